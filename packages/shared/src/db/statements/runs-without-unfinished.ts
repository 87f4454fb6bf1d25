// Of these runs, those whose every task instance has ended. Index: idx_ti_unfinished.
import { defineStatement } from "../statement.ts";

export const runsWithoutUnfinished = defineStatement<readonly [ids: readonly number[]], { readonly id: number }>({
  name: "runs-without-unfinished",
  sql: `
select r.id
from unnest($1::bigint[]) as r(id)
where not exists (
  select from task_instance ti
  where ti.dag_run_id = r.id
    and (ti.state is null or ti.state in ('scheduled', 'queued', 'running', 'up_for_retry', 'up_for_reschedule', 'deferred', 'restarting', 'shutdown'))
)`,
});
