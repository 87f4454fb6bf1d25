// Runs that a backfill runs again become its own, as Airflow has it; a conf that was given for the backfill replaces
// theirs. No state changes. The caller holds the runs and the backfill.
import { defineStatement } from "../statement.ts";

export const adoptRuns = defineStatement<
  readonly [ids: readonly number[], backfillId: number],
  { readonly id: number }
>({
  name: "adopt-runs",
  sql: `
update dag_run r set backfill_id = b.id, run_type = 'backfill', triggered_by = 'BACKFILL',
  triggering_user_name = b.triggering_user_name,
  conf = case when b.dag_run_conf = '{}' then r.conf else b.dag_run_conf end, updated_at = now()
from backfill b
where b.id = $2 and r.id = any ($1::bigint[])
returning r.id`,
});
