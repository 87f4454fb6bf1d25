// The dates of a backfill that only the code of its DAG's file knows, as the dag-processor was told them.
import { AppError } from "../../errors/index.ts";
import type { PlannedRun } from "../../model/index.ts";
import type { Database } from "../database.ts";
import { insertLog } from "../statements/insert-log.ts";
import { markBackfillPlanned } from "../statements/plan-backfill.ts";
import { MOST_DATES } from "./plan-backfill.ts";
import { storeDates } from "./store-dates.ts";

export type BackfillAnswer =
  /** The oldest first. */
  { readonly dates: readonly PlannedRun[] } | { readonly error: string };

/** Writes the dates, or ends the backfill with the reason why it has none. False: nobody wants to know any more. */
export async function answerPlan(
  db: Database,
  backfill: {
    readonly id: number;
    readonly dagId: string;
    readonly from: Date;
    readonly to: Date;
    readonly runBackwards: boolean;
  },
  answer: BackfillAnswer,
): Promise<boolean> {
  const { id, dagId, from, to, runBackwards } = backfill;
  const dates = "dates" in answer ? answer.dates : [];
  const error = "error" in answer ? answer.error : whyNot(dagId, from, to, dates.length);
  return await db.transaction(
    async (tx) => {
      if ((await tx.run(markBackfillPlanned, [id, error?.replaceAll("\0", "\\0") ?? null])).length === 0) return false;
      if (error === undefined) await storeDates(tx, id, runBackwards ? dates.toReversed() : dates);
      const extra = `backfill ${id}: ${error ?? `${dates.length} dates`}`;
      await tx.run(insertLog, [["plan_backfill"], [dagId], [null], [null], [null], [null], ["dag-processor"], [extra]]);
      return true;
    },
    { actor: "dag-processor" },
  );
}

/** As a backfill is refused whose dates are known at once. */
function whyNot(dagId: string, from: Date, to: Date, count: number): string | undefined {
  if (count > MOST_DATES) return new AppError("BACKFILL_TOO_LARGE", { dagId, most: MOST_DATES }).message;
  return count > 0
    ? undefined
    : new AppError("BACKFILL_EMPTY", { dagId, from: from.toISOString(), to: to.toISOString() }).message;
}
