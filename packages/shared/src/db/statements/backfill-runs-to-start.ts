// The queued runs of backfills that may start, each backfill under its own max_active_runs and in its own order. The dag
// row is the lock under which that is counted and used up, and under which a backfill is paused; dags that another
// scheduler has are skipped. A backfill that is over is not held back by its pause: what is cleared in it goes on.
// Indexes: idx_dag_run_queued_backfills, idx_dag_run_running_dags.
import { defineStatement } from "../statement.ts";
import { LOCKED_RUN_COLUMNS, type LockedRun } from "./lock-runs.ts";

const MAY_START = "not d.is_paused and (not b.is_paused or b.completed_at is not null)";
const ROOM = `b.max_active_runs - (
  select count(*)::int from dag_run a where a.dag_id = b.dag_id and a.state = 'running' and a.backfill_id = b.id
)`;

export const lockBackfillsToStart = defineStatement<readonly [limit: number], { readonly id: number }>({
  name: "lock-backfills-to-start",
  sql: `
with recursive waiting as (
  (select backfill_id from dag_run where state = 'queued' and backfill_id is not null order by backfill_id limit 1)
  union all
  select n.backfill_id from waiting w cross join lateral
    (select backfill_id from dag_run where state = 'queued' and backfill_id > w.backfill_id order by backfill_id limit 1) n
)
select b.id
from backfill b
join dag d on d.dag_id = b.dag_id
where b.id in (select backfill_id from waiting) and ${MAY_START} and ${ROOM} > 0
order by b.id
limit $1
for no key update of d skip locked`,
});

export type BackfillRunToStart = LockedRun & {
  readonly backfillId: number;
  /** Runs of its backfill that may start. */
  readonly room: number;
  /** Lower goes first. */
  readonly turn: number;
};

/**
 * As many as there is room for and a few more, since some may have nothing that can begin; they are read whole, and
 * thousands may wait. Run after the dags are locked: its snapshot then holds every start and every pause that went before.
 */
export const backfillRunsToStart = defineStatement<
  readonly [backfillIds: readonly number[], beyondRoom: number],
  BackfillRunToStart
>({
  name: "backfill-runs-to-start",
  sql: `
select ${LOCKED_RUN_COLUMNS}, f.id as "backfillId", f.room,
  (case when f.run_backwards then -1 else 1 end * extract(epoch from r.logical_date))::float8 as turn
from (
  select b.id, b.run_backwards, ${ROOM} as room
  from backfill b join dag d on d.dag_id = b.dag_id
  where b.id = any ($1::int[]) and ${MAY_START}
) f
cross join lateral (
  select id from (
    (select q.id, q.logical_date as at from dag_run q
     where not f.run_backwards and q.backfill_id = f.id and q.state = 'queued' and q.created_dag_version_id is not null
     order by q.logical_date limit case when f.room > 0 then least(f.room + $2::int, 50) else 0 end)
    union all
    (select q.id, q.logical_date from dag_run q
     where f.run_backwards and q.backfill_id = f.id and q.state = 'queued' and q.created_dag_version_id is not null
     order by q.logical_date desc limit case when f.room > 0 then least(f.room + $2::int, 50) else 0 end)
  ) turns
) t
join dag_run r on r.id = t.id
where r.state = 'queued' and r.run_after <= now()
order by r.id
for no key update of r`,
});
