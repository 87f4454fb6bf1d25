// Whether no later run of the DAG's schedule is due: neither made nor, as the DAG's next one, still to be made.
import { defineStatement } from "../statement.ts";

export const readIsLatestRun = defineStatement<readonly [dagRunId: number], { readonly isLatest: boolean }>({
  name: "read-is-latest-run",
  sql: `
select not exists (
    select from dag_run o
    where o.dag_id = r.dag_id and o.run_type = 'scheduled' and o.logical_date > r.logical_date and o.run_after <= now()
  ) and not coalesce(d.next_dagrun > r.logical_date and d.next_dagrun_create_after <= now(), false) as "isLatest"
from dag_run r
join dag d on d.dag_id = r.dag_id
where r.id = $1`,
});
