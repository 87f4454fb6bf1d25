// What a task that depends on its past needs to see: itself in the run before, and with waitForDownstream the tasks
// directly after it there too. Pure.
import type { Cause } from "./cause.ts";
import type { TaskNode } from "./dag-graph.ts";
import type { TaskState } from "./task-state.ts";

export interface PastOfTask {
  /** The run before, by logical date. */
  readonly runId: string;
  readonly logicalDate: number;
  /** Whether that run is over, so that what nobody has there does not begin by itself any more. */
  readonly isOver?: boolean;
  readonly states: readonly { readonly taskId: string; readonly mapIndex?: number; readonly state: TaskState }[];
  /** Whether any earlier run has the task at all. */
  readonly hasEarlier: boolean;
}

/** By task id; undefined when the run has no run before it. */
export type PastView = (taskId: string) => PastOfTask | undefined;

/** Why the past holds a task back; undefined when it does not. */
export function heldByPast(node: TaskNode, past: PastOfTask | undefined, catchup: boolean): Cause | undefined {
  const { spec } = node;
  if (!spec.dependsOnPast && !spec.waitForDownstream) return undefined;
  if (past === undefined) return undefined;
  if (catchup && spec.startDate !== undefined && past.logicalDate < Date.parse(spec.startDate)) return undefined;
  const own = past.states.filter((ti) => ti.taskId === spec.taskId);
  if (own.length === 0) {
    if (spec.ignoreFirstDependsOnPast && !past.hasEarlier) return undefined;
    return { kind: "depends_on_past", runId: past.runId, taskId: spec.taskId, state: null };
  }
  const wanted = spec.waitForDownstream ? [spec.taskId, ...node.downstream] : [spec.taskId];
  const open = past.states.find(
    (ti) => wanted.includes(ti.taskId) && ti.state !== "success" && ti.state !== "skipped" && !isGone(ti),
  );
  return open === undefined
    ? undefined
    : { kind: "depends_on_past", runId: past.runId, taskId: open.taskId, state: open.state };
}

/** An instance of a mapped task for which there was no element any more. */
const isGone = ({ mapIndex = -1, state }: PastOfTask["states"][number]): boolean =>
  state === "removed" && mapIndex >= 0;

/** The tasks of the run before whose states `heldByPast` reads. */
export const pastTasksOf = (node: TaskNode): readonly string[] =>
  node.spec.waitForDownstream
    ? [node.spec.taskId, ...node.downstream]
    : node.spec.dependsOnPast
      ? [node.spec.taskId]
      : [];
