// Running runs that took longer than their DAG's dagrunTimeout. Those being looked at by another are skipped.
// Index: idx_dag_run_timeout.
import { defineStatement } from "../statement.ts";
import { LOCKED_RUN_COLUMNS, type LockedRun } from "./lock-runs.ts";

export const lockTimedOutRuns = defineStatement<
  readonly [limit: number],
  LockedRun & { readonly timeoutSeconds: number }
>({
  name: "lock-timed-out-runs",
  sql: `
select ${LOCKED_RUN_COLUMNS}, r.timeout_seconds as "timeoutSeconds"
from dag_run r
where r.state = 'running' and r.timeout_seconds is not null
  and r.start_date + make_interval(secs => r.timeout_seconds) < now()
order by r.id
limit $1
for no key update skip locked`,
});
