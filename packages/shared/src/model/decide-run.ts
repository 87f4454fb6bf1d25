// The verdict on a run. Pure.
import type { DagGraph } from "./dag-graph.ts";
import { decideTask, type TaskSnapshot } from "./decide-task.ts";
import type { PastView } from "./past.ts";
import { viewOf } from "./run-view.ts";
import { isDecidable, isFinished, type TaskState } from "./task-state.ts";

export type RunVerdict =
  | { readonly kind: "open" }
  | { readonly kind: "success" }
  | {
      readonly kind: "failed";
      readonly reason: "task_failure" | "all_tasks_deadlocked";
      readonly taskIds: readonly string[];
    };

/** Asked only once no task instance of the run is unfinished: the effective leaves decide. */
export function judgeLeaves(leaves: readonly TaskSnapshot[]): RunVerdict {
  const failed = leaves.filter((ti) => ti.state === "failed" || ti.state === "upstream_failed");
  return failed.length > 0
    ? { kind: "failed", reason: "task_failure", taskIds: [...new Set(failed.map((ti) => ti.taskId))] }
    : { kind: "success" };
}

/** Looks at every task instance of a run. Unfinished ones of which none can ever go on are a deadlock. */
export function judgeRun(graph: DagGraph, tasks: readonly TaskSnapshot[], past?: PastView): RunVerdict {
  const unfinished = tasks.filter((ti) => !isFinished(ti.state));
  const view = viewOf(tasks);
  if (unfinished.length === 0) return judgeLeaves(graph.leaves.flatMap((id) => view(id)));
  const hopeful = past === undefined ? undefined : asIfDone(past);
  const canGoOn = (ti: TaskSnapshot) => {
    if (!isDecidable(ti.state)) return true;
    const node = graph.tasks.get(ti.taskId);
    return (
      node !== undefined && decideTask(graph, node, { ...ti, isDue: true }, view, hopeful, "brief").kind !== "wait"
    );
  };
  return unfinished.some(canGoOn)
    ? { kind: "open" }
    : { kind: "failed", reason: "all_tasks_deadlocked", taskIds: [...new Set(unfinished.map((ti) => ti.taskId))] };
}

/**
 * The past as it may still become: what is not finished there can succeed, what failed cannot by itself, and in a run that
 * is over only what somebody has already.
 */
function asIfDone(past: PastView): PastView {
  return (taskId) => {
    const found = past(taskId);
    if (found === undefined) return undefined;
    const canSucceed = (state: TaskState) => !isFinished(state) && (found.isOver !== true || !isDecidable(state));
    return {
      ...found,
      states: found.states.map((ti) => (canSucceed(ti.state) ? { ...ti, state: "success" as const } : ti)),
    };
  };
}
