// What becomes of one task instance that nobody has yet: it goes, waits, or ends without running. Pure: reads the
// snapshot it is given and nothing else. The scheduler acts on the answer; `explain` shows its reasons.
import type { BranchDecision } from "@millrace/sdk/runtime";
import type { DagGraph, TaskNode } from "./dag-graph.ts";
import { heldByPast, type PastView } from "./past.ts";
import { isFinished, type TaskState } from "./task-state.ts";
import { countUpstream, judgeTriggerRule } from "./trigger-rule.ts";

export interface TaskSnapshot {
  readonly taskId: string;
  readonly mapIndex: number;
  readonly state: TaskState;
  /** Only for up_for_retry and up_for_reschedule: whether its delay is over, by the database's clock. */
  readonly isDue: boolean;
  readonly branchDecision: BranchDecision | null;
}

export type TaskDecision =
  | { readonly kind: "schedule" }
  /** An empty task: done without a worker. */
  | { readonly kind: "complete" }
  | { readonly kind: "skipped" | "upstream_failed" | "removed"; readonly reason: string }
  | { readonly kind: "wait"; readonly reason: string };

/** Task instances of the same run by task id: at least those that the task watches. */
export type RunView = (taskId: string) => readonly TaskSnapshot[];

const NO_PAST: PastView = () => undefined;

/** @param past the run before, for tasks that depend on it; without it there is none */
export function decideTask(
  graph: DagGraph,
  node: TaskNode,
  ti: TaskSnapshot,
  view: RunView,
  past: PastView = NO_PAST,
): TaskDecision {
  if (ti.state === "up_for_retry" && !ti.isDue) return { kind: "wait", reason: "its retry delay is not over" };
  if (ti.state === "up_for_reschedule" && !ti.isDue) return { kind: "wait", reason: "its next poke is not due" };
  const decision = skippedByBranch(node, view) ?? heldBySetup(node, view) ?? byTriggerRule(graph, node, ti, view);
  const held = heldByPast(node, past(node.spec.taskId), graph.spec.catchup === true);
  if (held === undefined || decision.kind === "wait") return decision;
  const goes = decision.kind === "schedule" || decision.kind === "complete";
  const waits = goes || (decision.kind === "skipped" && node.spec.waitForPastDependsBeforeSkipping);
  return waits ? { kind: "wait", reason: held } : decision;
}

function skippedByBranch(node: TaskNode, view: RunView): TaskDecision | undefined {
  const { taskId } = node.spec;
  for (const id of node.shortCircuits) {
    if (view(id).some((up) => up.state === "success" && up.branchDecision?.kind === "skip_all")) {
      return { kind: "skipped", reason: `${id} cut the DAG short` };
    }
  }
  for (const id of node.upstream) {
    for (const up of view(id)) {
      const decision = up.state === "success" ? up.branchDecision : null;
      if (decision?.kind === "skip_all" && !node.spec.isTeardown)
        return { kind: "skipped", reason: `${id} cut the DAG short` };
      if (decision?.kind === "follow" && !decision.taskIds.includes(taskId)) {
        return { kind: "skipped", reason: `${id} took another branch` };
      }
    }
  }
  return undefined;
}

function heldBySetup(node: TaskNode, view: RunView): TaskDecision | undefined {
  const setups = node.indirectSetups.flatMap((id) => view(id));
  const failed = setups.find((s) => s.state === "failed" || s.state === "upstream_failed");
  if (failed !== undefined) return { kind: "upstream_failed", reason: `its setup ${failed.taskId} is ${failed.state}` };
  const skipped = setups.find((s) => s.state === "skipped");
  if (skipped !== undefined) return { kind: "skipped", reason: `its setup ${skipped.taskId} was skipped` };
  const open = setups.find((s) => s.state !== "success");
  return open === undefined ? undefined : { kind: "wait", reason: `its setup ${open.taskId} is ${open.state}` };
}

function byTriggerRule(graph: DagGraph, node: TaskNode, ti: TaskSnapshot, view: RunView): TaskDecision {
  const upstream = node.upstream.flatMap((id) =>
    view(id).map((up) => ({ ...up, isSetup: graph.tasks.get(id)?.spec.isSetup ?? false })),
  );
  const rule = node.spec.triggerRule;
  const verdict = judgeTriggerRule(rule, countUpstream(upstream), { mapIndex: ti.mapIndex });
  const states = () => upstream.map((up) => `${up.taskId} is ${up.state}`).join(", ");
  if (verdict === "wait") return { kind: "wait", reason: `trigger rule ${rule}: ${states()}` };
  if (verdict !== "pass") return { kind: verdict, reason: `trigger rule ${rule}: ${states()}` };
  const open = node.teardownScope.flatMap((id) => view(id)).find((up) => !isFinished(up.state));
  if (open !== undefined)
    return { kind: "wait", reason: `${open.taskId}, which uses what it tears down, is ${open.state}` };
  return isEmpty(node) ? { kind: "complete" } : { kind: "schedule" };
}

const isEmpty = (node: TaskNode): boolean => node.spec.operator === "empty" && node.spec.callbacks.length === 0;
