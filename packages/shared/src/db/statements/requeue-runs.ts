// Runs of which something was cleared: a finished one is queued again and starts anew, an active one goes on. The first
// statement of a clear: it takes the runs' locks, in the order of their ids, before those of their task instances.
import { defineStatement } from "../statement.ts";

export const requeueRuns = defineStatement<readonly [ids: readonly number[]], { readonly id: number }>({
  name: "requeue-runs",
  transitions: ["run success>queued", "run failed>queued"],
  sql: `
with locked as (
  select id, state from dag_run where id = any ($1::bigint[]) order by id for no key update
)
update dag_run r set
  state = case when l.state in ('success', 'failed') then 'queued' else l.state end,
  start_date = case when l.state in ('success', 'failed') then null else r.start_date end,
  end_date = null,
  last_scheduling_decision = null,
  state_reason = null, mark = null,
  clear_number = r.clear_number + 1, queued_at = now(), updated_at = now()
from locked l where r.id = l.id
returning r.id`,
});
