// Backfills with how far they are.
import { AppError } from "../../errors/index.ts";
import type { ReprocessBehavior } from "../../model/index.ts";
import { orderBy } from "./filters.ts";
import { readPage, readRows, sql, type Page, type PageRequest, type Query, type Reader } from "./query.ts";

export interface BackfillRow {
  readonly id: number;
  readonly dagId: string;
  readonly dagDisplayName: string;
  readonly dagIsPaused: boolean;
  readonly fromDate: Date;
  readonly toDate: Date;
  readonly dagRunConf: Readonly<Record<string, unknown>>;
  readonly isPaused: boolean;
  readonly reprocessBehavior: ReprocessBehavior;
  readonly maxActiveRuns: number;
  readonly runBackwards: boolean;
  readonly runOnLatestVersion: boolean;
  readonly createdAt: Date;
  readonly completedAt: Date | null;
  readonly updatedAt: Date;
  readonly triggeringUserName: string | null;
  /** False: the dag-processor is still to ask the code of the DAG's file for the dates. */
  readonly isPlanned: boolean;
  /** Why that code gave none; the backfill is over. */
  readonly planError: string | null;
  /** Dates. `total` is the sum of all the others but `left`. */
  readonly total: number;
  /** That are to become runs. */
  readonly pending: number;
  /** That got no run: it existed, or the backfill was cancelled. */
  readonly skipped: number;
  /** Whose run was deleted. */
  readonly deleted: number;
  readonly queued: number;
  readonly running: number;
  readonly success: number;
  readonly failed: number;
  /** pending, queued and running. */
  readonly left: number;
  /** Runs that end in a second, by the newest fifty; null before two have ended. */
  readonly rate: number | null;
}

export interface BackfillFilter extends PageRequest {
  readonly dagId?: string | undefined;
  readonly isActive?: boolean | undefined;
  readonly orderBy?: readonly string[] | undefined;
}

// Counted from rows. The rate is that of the newest runs to end, up to now: it falls while nothing does.
const PROGRESS = `cross join lateral (
  select count(*)::int as total, (count(*) filter (where is_pending))::int as pending,
    (count(*) filter (where exception_reason is not null))::int as skipped,
    (count(*) filter (where not is_pending and exception_reason is null and dag_run_id is null))::int as deleted
  from backfill_dag_run where backfill_id = b.id
) n
cross join lateral (
  select (count(*) filter (where state = 'queued'))::int as queued, (count(*) filter (where state = 'running'))::int as running,
    (count(*) filter (where state = 'success'))::int as success, (count(*) filter (where state = 'failed'))::int as failed
  from dag_run where backfill_id = b.id
) s
cross join lateral (
  select count(*) as ended, min(end_date) as since from (
    select end_date from dag_run
    where b.completed_at is null and backfill_id = b.id and state in ('success', 'failed') and start_date is not null
    order by end_date desc limit 50
  ) newest
) e`;

const COLUMNS = `b.*, coalesce(d.dag_display_name, b.dag_id) as dag_display_name, coalesce(d.is_paused, false) as dag_is_paused,
  n.*, s.*, n.pending + s.queued + s.running as left,
  case when e.ended >= 2 then ((e.ended - 1) / greatest(extract(epoch from now() - e.since), 0.001))::float8 end as rate`;

const joined = (query: Query): Query => query.joinRaw(`left join dag d on d.dag_id = b.dag_id ${PROGRESS}`);

export async function listBackfills(db: Reader, filter: BackfillFilter = {}): Promise<Page<BackfillRow>> {
  const query = sql.from({ b: "backfill" });
  if (filter.dagId !== undefined) void query.where("b.dag_id", filter.dagId);
  if (filter.isActive !== undefined) void query.whereRaw(`b.completed_at is ${filter.isActive ? "" : "not"} null`);
  return await readPage<BackfillRow>(
    db,
    query,
    {
      columns: COLUMNS,
      order: orderBy({ id: "b.id" }, filter.orderBy ?? ["id"], "b.id"),
      joins: joined,
      pageFirst: "b",
    },
    filter,
  );
}

/** @throws AppError BACKFILL_NOT_FOUND. */
export async function getBackfill(db: Reader, backfillId: number): Promise<BackfillRow> {
  const query = joined(sql.from({ b: "backfill" }).where("b.id", backfillId)).select(sql.raw(COLUMNS));
  const [row] = await readRows<BackfillRow>(db, query);
  if (row === undefined) throw new AppError("BACKFILL_NOT_FOUND", { backfillId });
  return row;
}

export interface SkippedDate {
  readonly logicalDate: Date;
  readonly exceptionReason: string;
}

/** The dates that got no run, with the reason why, in the order of their turns. */
export async function listSkippedDates(db: Reader, backfillId: number, limit: number): Promise<SkippedDate[]> {
  return await readRows<SkippedDate>(
    db,
    sql
      .from("backfill_dag_run")
      .where("backfill_id", backfillId)
      .whereNotNull("exception_reason")
      .orderBy("sort_ordinal")
      .limit(limit)
      .select("logical_date", "exception_reason"),
  );
}

/** Seconds until nothing is left, if it goes on as of late; null when nothing can be said, as of a paused one. */
export function secondsLeft(backfill: BackfillRow): number | null {
  const { left, rate, completedAt, isPaused, dagIsPaused, isPlanned } = backfill;
  if (completedAt !== null || (left === 0 && isPlanned)) return 0;
  return rate === null || rate === 0 || isPaused || dagIsPaused ? null : left / rate;
}
