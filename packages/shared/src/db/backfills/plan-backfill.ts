// What a backfill would be about: checked against its DAG, with the dates of its range. Used by the creation and by the
// dry run, which therefore refuse the same.
import { setImmediate } from "node:timers/promises";
import { AppError } from "../../errors/index.ts";
import {
  datesOfBackfill,
  refuseBackfill,
  summarizeSchedule,
  timeOf,
  type PlannedRun,
  type ReprocessBehavior,
} from "../../model/index.ts";
import type { DagVersions } from "../dag-versions.ts";
import type { Database } from "../database.ts";
import { defineStatement } from "../statement.ts";
import { checkRunFits } from "../../params/index.ts";
import { checkConf, readDagToRun } from "../trigger-run.ts";

export interface BackfillRequest {
  readonly dagId: string;
  /** Logical dates, both ends included. Dates that are not over yet are left to the schedule. */
  readonly from: Date;
  readonly to: Date;
  /** @default "none" */
  readonly reprocessBehavior?: ReprocessBehavior | undefined;
  /** Runs of it at once; the DAG's own limit does not count for them. @default 10 */
  readonly maxActiveRuns?: number | undefined;
  /** The latest date first. @default false */
  readonly runBackwards?: boolean | undefined;
  readonly conf?: unknown;
  /** What is run again goes on with the DAG's newest version. @default true */
  readonly runOnLatestVersion?: boolean | undefined;
  readonly user: string;
  /** Told now and then how many dates are found. */
  readonly onDates?: ((count: number) => void) | undefined;
}

export interface PlannedBackfill {
  readonly conf: Readonly<Record<string, unknown>>;
  /** In the order of their turns. Undefined: only the code of the DAG's file knows them. */
  readonly dates: readonly PlannedRun[] | undefined;
  /** The schedule in words. */
  readonly schedule: string;
}

/** More than any run history is looked at for; a finer schedule over a longer time is asked for in parts. */
export const MOST_DATES = 100_000;
const DATES_AT_ONCE = 500;

const newestInterval = defineStatement<readonly [dagId: string], { readonly end: Date }>({
  name: "newest-scheduled-interval",
  sql: `
select data_interval_end as end from dag_run
where dag_id = $1 and run_type = 'scheduled' and data_interval_end is not null
order by logical_date desc limit 1`,
});

/**
 * @throws AppError DAG_NOT_FOUND, DAG_STALE, DAG_HAS_IMPORT_ERROR, RUN_CONF_INVALID, SCHEDULE_INVALID, BACKFILL_NO_SCHEDULE,
 * BACKFILL_RANGE_INVALID, BACKFILL_ORDER_INVALID, BACKFILL_TOO_LARGE or BACKFILL_EMPTY.
 */
export async function planBackfill(
  db: Database,
  versions: DagVersions,
  request: BackfillRequest,
): Promise<PlannedBackfill> {
  const { dagId } = request;
  const conf = checkConf(request.conf);
  const { graph, now } = await readDagToRun(db, versions, dagId);
  checkRunFits(graph.spec, conf);
  const range = { from: request.from.getTime(), to: request.to.getTime(), now };
  const refusal = refuseBackfill(graph.spec, {
    ...range,
    runBackwards: request.runBackwards ?? false,
    reprocessBehavior: request.reprocessBehavior ?? "none",
  });
  if (refusal?.kind === "no_schedule") throw new AppError("BACKFILL_NO_SCHEDULE", { dagId });
  if (refusal?.kind === "range") throw new AppError("BACKFILL_RANGE_INVALID", { cause: refusal.cause });
  if (refusal?.kind === "order") {
    throw new AppError("BACKFILL_ORDER_INVALID", { dagId, tasks: refusal.tasks.join(", "), cause: refusal.cause });
  }
  const schedule = summarizeSchedule(graph.spec.schedule);
  if (timeOf(graph.spec.schedule).kind === "custom") return { conf, dates: undefined, schedule };
  const [newest] = await db.run(newestInterval, [dagId]);
  const dates: PlannedRun[] = [];
  for (const date of datesOfBackfill(graph.spec, { ...range, anchor: newest?.end.getTime() })) {
    dates.push(date);
    if (dates.length > MOST_DATES) throw new AppError("BACKFILL_TOO_LARGE", { dagId, most: MOST_DATES });
    // A fine schedule over years is seconds of arithmetic: a process that serves others goes on with them meanwhile.
    if (dates.length % DATES_AT_ONCE > 0) continue;
    request.onDates?.(dates.length);
    await setImmediate();
  }
  if (dates.length === 0) {
    throw new AppError("BACKFILL_EMPTY", { dagId, from: request.from.toISOString(), to: request.to.toISOString() });
  }
  return { conf, schedule, dates: request.runBackwards === true ? dates.toReversed() : dates };
}
