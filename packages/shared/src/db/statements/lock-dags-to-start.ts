// Takes dags that have queued runs which may start now and room under max_active_runs, with that room and the oldest of
// those runs. The dag row is the lock under which its limit is counted and used up; dags that another scheduler has are
// skipped. Backfill runs have their own limit and are not counted here. A run that could not start when it was last looked
// at is due again after some seconds, or as soon as it is named: else dags whose runs wait for others would be all that is
// looked at. Indexes: idx_dag_run_queued_dags, idx_dag_run_to_look_at, idx_dag_run_running_dags.
import { defineStatement } from "../statement.ts";

/** Parameters of both statements: how many seconds ago a look counts as none, and the ids of runs that are due whatever it says. */
export const dueFor = (row: string, seconds: string, named: string): string =>
  `(${row}.last_scheduling_decision is null or ${row}.last_scheduling_decision <= now() - make_interval(secs => ${seconds}) or ${row}.id = any (${named}::bigint[]))`;

export interface DagToStart {
  readonly dagId: string;
}

export const lockDagsToStart = defineStatement<
  readonly [limit: number, lookedAtSeconds: number, named: readonly number[]],
  DagToStart
>({
  name: "lock-dags-to-start",
  sql: `
with recursive waiting as (
  (select dag_id from dag_run where state = 'queued' and backfill_id is null order by dag_id limit 1)
  union all
  select n.dag_id from waiting w cross join lateral
    (select dag_id from dag_run where state = 'queued' and backfill_id is null and dag_id > w.dag_id order by dag_id limit 1) n
)
select d.dag_id as "dagId"
from dag d
where d.dag_id in (select dag_id from waiting)
  and not d.is_paused
  and exists (select from dag_run q where q.dag_id = d.dag_id and q.state = 'queued' and q.backfill_id is null and q.run_after <= now()
    and ${dueFor("q", "$2::float8", "$3")})
  and (select count(*) from dag_run a where a.dag_id = d.dag_id and a.state = 'running' and a.run_type <> 'backfill') < d.max_active_runs
order by (select min(q.run_after) from dag_run q where q.dag_id = d.dag_id and q.state = 'queued' and q.backfill_id is null), d.dag_id
limit $1
for no key update of d skip locked`,
});
