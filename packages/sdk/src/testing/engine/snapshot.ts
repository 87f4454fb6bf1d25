import type { TaskSnapshot } from "@millrace/shared/model";
import type { TaskRow } from "./rows.ts";
import type { Transaction } from "./transaction.ts";

/** A task instance as the deciders see it, at the moment at which it was read. */
export interface Snapshot extends TaskSnapshot {
  readonly id: number;
  readonly epoch: number;
  readonly row: TaskRow;
}

export function snapshotOf(tx: Transaction, row: TaskRow): Snapshot {
  const { id, epoch, state, branchDecision, retryAt } = tx.read(row);
  const isDue = retryAt === undefined || retryAt <= tx.now;
  return { taskId: row.taskId, mapIndex: row.mapIndex, state, isDue, branchDecision, id, epoch, row };
}
