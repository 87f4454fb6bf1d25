// Takes the running runs that were examined whole the longest ago, and stamps them. However much happens in a run, only a
// look at the whole of it stamps it: a wake that was lost in a busy run is found as soon as one in a quiet run. Those that
// another scheduler has at this moment are skipped, for this time. Index: idx_dag_run_last_scheduling_decision.
import { defineStatement } from "../statement.ts";
import { LOCKED_RUN_COLUMNS, type LockedRun } from "./lock-runs.ts";

export const lockRunsToSweep = defineStatement<readonly [olderThanSeconds: number, limit: number], LockedRun>({
  name: "lock-runs-to-sweep",
  sql: `
with due as (
  select id from dag_run
  where state = 'running' and created_dag_version_id is not null
    and (last_scheduling_decision is null or last_scheduling_decision < now() - make_interval(secs => $1))
  order by last_scheduling_decision nulls first
  limit $2
  for no key update skip locked
)
update dag_run r set last_scheduling_decision = now()
from due where r.id = due.id
returning ${LOCKED_RUN_COLUMNS}`,
});
