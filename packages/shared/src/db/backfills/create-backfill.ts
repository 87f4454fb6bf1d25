// Creates a backfill, and says beforehand what it would do. The runs come later, from a scheduler (fill-backfill.ts).
import { AppError } from "../../errors/index.ts";
import { judgeDate } from "../../model/index.ts";
import type { DagVersions } from "../dag-versions.ts";
import type { Database } from "../database.ts";
import { defineStatement } from "../statement.ts";
import { insertBackfill } from "../statements/insert-backfill.ts";
import { insertLog } from "../statements/insert-log.ts";
import { runsOfDates } from "../statements/runs-of-dates.ts";
import { planBackfill, type BackfillRequest } from "./plan-backfill.ts";
import { storeDates } from "./store-dates.ts";

export const DEFAULT_BACKFILL_MAX_ACTIVE_RUNS = 10;

const readActiveBackfill = defineStatement<readonly [dagId: string], { readonly id: number }>({
  name: "read-active-backfill",
  sql: `select id from backfill where dag_id = $1 and completed_at is null`,
});

/**
 * With all its dates, in one transaction, or where only the code of the DAG's file knows them without: the dag-processor
 * asks it and adds them. The caller wakes the schedulers after it. Gives its id.
 * @throws AppError as `planBackfill`, and BACKFILL_ACTIVE.
 */
export async function createBackfill(db: Database, versions: DagVersions, request: BackfillRequest): Promise<number> {
  const { dagId, user } = request;
  const { conf, dates } = await planBackfill(db, versions, request);
  const id = await db.transaction(
    async (tx) => {
      const [created] = await tx.run(insertBackfill, [
        dagId,
        request.from,
        request.to,
        JSON.stringify(conf),
        request.reprocessBehavior ?? "none",
        request.maxActiveRuns ?? DEFAULT_BACKFILL_MAX_ACTIVE_RUNS,
        request.runBackwards ?? false,
        request.runOnLatestVersion ?? true,
        user,
        dates !== undefined,
      ]);
      if (created === undefined) return undefined;
      if (dates !== undefined) await storeDates(tx, created.id, dates);
      const extra = `backfill ${created.id}: ${dates === undefined ? "dates to be asked for" : `${dates.length} dates`}`;
      await tx.run(insertLog, [["create_backfill"], [dagId], [null], [null], [null], [null], [user], [extra]]);
      return created.id;
    },
    { actor: user },
  );
  if (id !== undefined) return id;
  const [active] = await db.run(readActiveBackfill, [dagId]);
  throw new AppError("BACKFILL_ACTIVE", { dagId, backfillId: active?.id ?? "that has just ended" });
}

export interface PreviewedDate {
  readonly logicalDate: Date;
  readonly verdict: "create" | "reprocess";
}

/**
 * The dates that would get a run now, in the order of their turns. Changes nothing.
 * @throws AppError as `planBackfill`, and BACKFILL_NOT_FORESEEN.
 */
export async function previewBackfill(
  db: Database,
  versions: DagVersions,
  request: BackfillRequest,
): Promise<{ readonly dates: readonly PreviewedDate[]; readonly leftOut: number }> {
  const { dates, schedule } = await planBackfill(db, versions, request);
  if (dates === undefined) throw new AppError("BACKFILL_NOT_FORESEEN", { dagId: request.dagId, timetable: schedule });
  const existing = await db.run(runsOfDates, [request.dagId, dates.map((date) => new Date(date.logicalDate))]);
  const states = new Map(existing.map((run) => [run.logicalDate.getTime(), run.state]));
  const found = dates.flatMap(({ logicalDate }): PreviewedDate[] => {
    const verdict = judgeDate(states.get(logicalDate), request.reprocessBehavior ?? "none");
    return verdict === "create" || verdict === "reprocess" ? [{ logicalDate: new Date(logicalDate), verdict }] : [];
  });
  return { dates: found, leftOut: dates.length - found.length };
}
