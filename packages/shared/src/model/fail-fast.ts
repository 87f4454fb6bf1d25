// What a failFast DAG does with the rest of a run once one of its tasks has failed. Pure.
import type { DagGraph } from "./dag-graph.ts";
import type { TaskSnapshot } from "./decide-task.ts";
import { HELD_TASK_STATES, isFinished } from "./task-state.ts";

export interface FailFast<T extends TaskSnapshot> {
  /** Nobody has them: they are skipped. */
  readonly skip: readonly T[];
  /** Workers have them: they are stopped, and fail; one that was to restart is skipped. */
  readonly stop: readonly T[];
  readonly reason: string;
}

/**
 * Undefined when the DAG goes on. Teardowns always run. A failure from before a clear ends nothing any more: whoever
 * cleared something else in the run wants it to run.
 */
export function failFast<T extends TaskSnapshot>(graph: DagGraph, tasks: readonly T[]): FailFast<T> | undefined {
  if (!graph.spec.failFast) return undefined;
  const isTeardown = (ti: T) => graph.tasks.get(ti.taskId)?.spec.isTeardown === true;
  const failed = tasks.find((ti) => ti.state === "failed" && !isTeardown(ti) && ti.endedBeforeClear !== true);
  if (failed === undefined) return undefined;
  const rest = tasks.filter((ti) => !isFinished(ti.state) && !isTeardown(ti));
  return {
    skip: rest.filter((ti) => !(HELD_TASK_STATES as readonly string[]).includes(ti.state)),
    stop: rest.filter((ti) => ti.state === "running" || ti.state === "restarting"),
    reason: `${failed.taskId} failed, and its DAG fails fast`,
  };
}
