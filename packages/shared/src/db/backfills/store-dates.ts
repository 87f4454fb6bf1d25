import type { PlannedRun } from "../../model/index.ts";
import type { Queryable } from "../database.ts";
import { insertBackfillDates } from "../statements/insert-backfill.ts";

/** In the order of their turns. */
export async function storeDates(tx: Queryable, backfillId: number, dates: readonly PlannedRun[]): Promise<void> {
  await tx.run(insertBackfillDates, [
    backfillId,
    dates.map((date) => new Date(date.logicalDate)),
    dates.map((date) => new Date(date.interval.start)),
    dates.map((date) => new Date(date.interval.end)),
    dates.map((date) => new Date(date.runAfter)),
  ]);
}
