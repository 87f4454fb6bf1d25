// Starts admitted runs. The caller holds their dag rows, so that max_active_runs is counted and used up by one at a time.
import { defineStatement } from "../statement.ts";

export const startRuns = defineStatement<readonly [ids: readonly number[]], { readonly id: number }>({
  name: "start-runs",
  transitions: ["run queued>running"],
  sql: `
update dag_run r set state = 'running', start_date = now(), end_date = null, last_scheduling_decision = now(), updated_at = now()
from unnest($1::bigint[]) as s(id)
where r.id = s.id and r.state = 'queued'
returning r.id`,
});

/** Runs that cannot start yet. Not before some seconds, or an event that concerns them, are they looked at again. */
export const noteCannotStart = defineStatement<readonly [ids: readonly number[]], never>({
  name: "note-cannot-start",
  sql: `update dag_run set last_scheduling_decision = now() where id = any ($1::bigint[]) and state = 'queued'`,
});
