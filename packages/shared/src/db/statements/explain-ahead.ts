// For scheduled task instances: how many others of their pool come before them in the order of admission. One sort of
// what is scheduled in these pools, however many are asked about. Index: idx_ti_scheduled.
import { defineStatement } from "../statement.ts";

export const explainAhead = defineStatement<
  readonly [ids: readonly string[]],
  { readonly id: string; readonly count: number }
>({
  name: "explain-ahead",
  sql: `
select id, count
from (
  select o.id, (row_number() over (partition by o.pool
    order by o.priority_weight desc, o.logical_date, o.run_after, o.map_index, o.id) - 1)::int as count
  from task_instance o
  where o.state = 'scheduled' and o.pool in (select t.pool from task_instance t where t.id = any ($1::uuid[]))
) ranked
where id = any ($1::uuid[])`,
});
