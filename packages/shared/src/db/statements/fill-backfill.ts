// The dates of a backfill become runs: takes a backfill that has dates to come to, reads the next of them, and writes what
// became of each. Whoever holds the backfill's row does this, so that each date is come to once, with any number of
// schedulers; one that another has is skipped.
import { defineStatement } from "../statement.ts";

export interface BackfillToFill {
  readonly id: number;
  readonly dagId: string;
  /** The DAG's newest version. */
  readonly versionId: string;
  readonly reprocessBehavior: "none" | "failed" | "completed";
  readonly runOnLatestVersion: boolean;
  readonly conf: Readonly<Record<string, unknown>>;
  readonly user: string | null;
}

/** Locks: the backfill. Indexes: backfill_active_dag_id_uq, idx_backfill_dag_run_pending. */
export const lockBackfillToFill = defineStatement<readonly [except: readonly number[]], BackfillToFill>({
  name: "lock-backfill-to-fill",
  sql: `
select b.id, b.dag_id as "dagId", v.id as "versionId", b.reprocess_behavior as "reprocessBehavior",
  b.run_on_latest_version as "runOnLatestVersion", b.dag_run_conf as conf, b.triggering_user_name as user
from backfill b
cross join lateral (
  select id from dag_version v where v.dag_id = b.dag_id order by v.version_number desc limit 1
) v
where b.completed_at is null and b.id <> all ($1::int[])
  and exists (select from backfill_dag_run d where d.backfill_id = b.id and d.is_pending)
order by b.id
limit 1
for no key update of b skip locked`,
});

export interface PendingDate {
  readonly id: number;
  readonly logicalDate: Date;
  readonly intervalStart: Date;
  readonly intervalEnd: Date;
  readonly runAfter: Date;
}

/** The next dates, in the order of their turns. After the lock: its snapshot then holds all that was come to before. */
export const pendingDates = defineStatement<readonly [backfillId: number, limit: number], PendingDate>({
  name: "pending-backfill-dates",
  sql: `
select id, logical_date as "logicalDate", data_interval_start as "intervalStart", data_interval_end as "intervalEnd",
  run_after as "runAfter"
from backfill_dag_run
where backfill_id = $1 and is_pending
order by sort_ordinal
limit $2`,
});

/** Those that have their run now, or the reason why not. */
export const settleDates = defineStatement<
  readonly [ids: readonly number[], dagRunIds: readonly (number | null)[], reasons: readonly (string | null)[]],
  { readonly id: number }
>({
  name: "settle-backfill-dates",
  sql: `
update backfill_dag_run d set is_pending = false, dag_run_id = s.dag_run_id, exception_reason = s.reason
from unnest($1::bigint[], $2::bigint[], $3::text[]) as s(id, dag_run_id, reason)
where d.id = s.id and d.is_pending
returning d.id`,
});
