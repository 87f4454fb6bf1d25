// One row of the audit log for one operation, however many task instances it changed: those are named in its text.
import type { Queryable } from "../database.ts";
import { insertLog } from "../statements/insert-log.ts";
import type { TargetTask } from "./find-targets.ts";

const LONGEST = 10_000;

export interface NotedOperation {
  readonly event: string;
  readonly dagId: string;
  /** Of an operation on a run as a whole. */
  readonly runId?: string;
  readonly user: string;
}

export async function noteOperation(
  tx: Queryable,
  { event, dagId, runId, user }: NotedOperation,
  tasks: readonly TargetTask[],
): Promise<void> {
  const only = <T>(values: readonly T[]): T | null => {
    const different = new Set(values);
    return different.size === 1 ? (values[0] ?? null) : null;
  };
  // Tasks come in the order of their ids, which means nothing to a reader.
  const names = tasks
    .map((task) => `${task.runId}: ${task.taskId}${task.mapIndex < 0 ? "" : `[${task.mapIndex}]`}`)
    .sort();
  await tx.run(insertLog, [
    [event],
    [dagId],
    [runId === undefined ? only(tasks.map((task) => task.taskId)) : null],
    [runId ?? only(tasks.map((task) => task.runId))],
    [null],
    [null],
    [user],
    [names.length === 0 ? null : names.join(", ").slice(0, LONGEST)],
  ]);
}
