// Pausing, resuming and cancelling a backfill. Each takes the dag row first, under which runs are started: what was
// answered holds from then on.
import { AppError } from "../../errors/index.ts";
import type { Database, Queryable } from "../database.ts";
import {
  cancelBackfillRow,
  cancelBackfillRuns,
  lockBackfill,
  lockDagOfBackfill,
  pauseBackfill,
} from "../statements/end-backfills.ts";
import { insertLog } from "../statements/insert-log.ts";
import { withoutCallbacks } from "../statements/without-callbacks.ts";

async function takeActive(tx: Queryable, backfillId: number): Promise<string> {
  await tx.run(lockDagOfBackfill, [backfillId]);
  const [backfill] = await tx.run(lockBackfill, [backfillId]);
  if (backfill === undefined) throw new AppError("BACKFILL_NOT_FOUND", { backfillId });
  if (backfill.completedAt !== null) {
    throw new AppError("BACKFILL_COMPLETED", { backfillId, at: backfill.completedAt.toISOString() });
  }
  return backfill.dagId;
}

const note = async (tx: Queryable, event: string, dagId: string, user: string, extra: string) =>
  await tx.run(insertLog, [[event], [dagId], [null], [null], [null], [null], [user], [extra]]);

/**
 * A paused backfill starts no further run; what runs goes on. The caller wakes the schedulers after it is resumed.
 * @throws AppError BACKFILL_NOT_FOUND or BACKFILL_COMPLETED.
 */
export async function setBackfillPaused(
  db: Database,
  backfillId: number,
  isPaused: boolean,
  user: string,
): Promise<void> {
  await db.transaction(
    async (tx) => {
      const dagId = await takeActive(tx, backfillId);
      await tx.run(pauseBackfill, [backfillId, isPaused]);
      await note(tx, isPaused ? "pause_backfill" : "unpause_backfill", dagId, user, `backfill ${backfillId}`);
    },
    { actor: user },
  );
}

/**
 * Ends it: queued runs fail, without callbacks since nothing of them ran, dates that had no run yet get none, and what
 * runs goes on. Gives how many runs failed by it.
 * @throws AppError BACKFILL_NOT_FOUND or BACKFILL_COMPLETED.
 */
export async function cancelBackfill(db: Database, backfillId: number, user: string): Promise<number> {
  return await db.transaction(
    async (tx) => {
      const dagId = await takeActive(tx, backfillId);
      await tx.run(withoutCallbacks, []);
      await tx.run(cancelBackfillRow, [backfillId]);
      const failed = await tx.run(cancelBackfillRuns, [backfillId, `cancelled with backfill ${backfillId} by ${user}`]);
      await note(tx, "cancel_backfill", dagId, user, `backfill ${backfillId}: ${failed.length} queued runs failed`);
      return failed.length;
    },
    { actor: user },
  );
}
