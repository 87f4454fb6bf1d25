// Creates a backfill with its dates, unless its DAG has an active one: then no row comes back. Two at the same time wait
// for each other at the unique index over active backfills. Locks: the new rows.
import { defineStatement } from "../statement.ts";

export const insertBackfill = defineStatement<
  readonly [
    dagId: string,
    from: Date,
    to: Date,
    conf: string,
    reprocessBehavior: string,
    maxActiveRuns: number,
    runBackwards: boolean,
    runOnLatestVersion: boolean,
    user: string,
    /** False: its dates follow. */
    isPlanned: boolean,
  ],
  { readonly id: number }
>({
  name: "insert-backfill",
  sql: `
insert into backfill (dag_id, from_date, to_date, dag_run_conf, reprocess_behavior, max_active_runs, run_backwards,
  run_on_latest_version, triggering_user_name, is_planned)
values ($1, $2, $3, $4::jsonb, $5, $6, $7, $8, left($9, 512), $10)
on conflict (dag_id) where completed_at is null do nothing
returning id`,
});

/** In the order of their turns; parallel arrays. */
export const insertBackfillDates = defineStatement<
  readonly [
    backfillId: number,
    logicalDates: readonly Date[],
    intervalStarts: readonly Date[],
    intervalEnds: readonly Date[],
    runAfters: readonly Date[],
  ],
  never
>({
  name: "insert-backfill-dates",
  sql: `
insert into backfill_dag_run (backfill_id, logical_date, data_interval_start, data_interval_end, run_after, sort_ordinal, is_pending)
select $1, d.logical_date, d.interval_start, d.interval_end, d.run_after, d.turn, true
from unnest($2::timestamptz[], $3::timestamptz[], $4::timestamptz[], $5::timestamptz[]) with ordinality
  as d(logical_date, interval_start, interval_end, run_after, turn)`,
});
