// The queued runs of locked dags that may start and are due for a look, the oldest first: as many of each dag as it has room
// for and a few more, since some may have nothing that can begin; they are read whole, and thousands may wait. Run after the
// dag rows are locked: its snapshot then holds every start that went before. Those of backfills have their own turns.
import { defineStatement } from "../statement.ts";
import { dueFor } from "./lock-dags-to-start.ts";
import { LOCKED_RUN_COLUMNS, type LockedRun } from "./lock-runs.ts";

export const runsToStart = defineStatement<
  readonly [
    dagIds: readonly string[],
    beyondRoom: number,
    atMost: number,
    lookedAtSeconds: number,
    named: readonly number[],
  ],
  LockedRun & { readonly room: number }
>({
  name: "runs-to-start",
  sql: `
select ${LOCKED_RUN_COLUMNS}, d.room
from (
  select dag_id, max_active_runs -
    (select count(*)::int from dag_run a where a.dag_id = dag.dag_id and a.state = 'running' and a.run_type <> 'backfill') as room
  from dag where dag_id = any ($1::text[])
) d
cross join lateral (
  select * from dag_run q
  where q.dag_id = d.dag_id and q.state = 'queued' and q.backfill_id is null and q.run_after <= now() and q.created_dag_version_id is not null
    and ${dueFor("q", "$4::float8", "$5")}
  order by q.run_after, q.id
  limit case when d.room > 0 then d.room + $2::int else 0 end
  for no key update
) r
order by r.run_after, r.id
limit $3`,
});
