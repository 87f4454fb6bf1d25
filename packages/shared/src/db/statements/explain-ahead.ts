// For scheduled task instances: how many others of their pool come before them in the order of admission, counted up to a
// bound. Index: idx_ti_scheduled.
import { defineStatement } from "../statement.ts";

export const explainAhead = defineStatement<
  readonly [ids: readonly string[], countAtMost: number],
  { readonly id: string; readonly count: number }
>({
  name: "explain-ahead",
  sql: `
select t.id, a.count
from task_instance t
cross join lateral (
  select count(*)::int as count from (
    select from task_instance o
    join dag d on d.dag_id = o.dag_id and not d.is_paused
    where o.state = 'scheduled' and o.pool = t.pool and o.id <> t.id
      and (-o.priority_weight, coalesce(o.logical_date, 'infinity'), o.run_after, o.map_index, o.id)
        < (-t.priority_weight, coalesce(t.logical_date, 'infinity'), t.run_after, t.map_index, t.id)
    limit $2
  ) counted
) a
where t.id = any ($1::uuid[]) and t.state = 'scheduled'`,
});
