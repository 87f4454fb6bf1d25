// Adds what a custom schedule answered to its plan, unless the plan was written anew since it was asked. A dag that had no
// next run gets the first of them. Locks: the dag row, then the plan.
import { defineStatement } from "../statement.ts";

export const storeTimetableAnswer = defineStatement<
  readonly [
    dagId: string,
    generation: number,
    runs: string,
    manual: string,
    ended: boolean,
    askedUntil: Date | null,
    failed: boolean,
  ],
  { readonly dagId: string }
>({
  name: "timetable-store-answer",
  sql: `
with locked as (
  select dag_id from dag where dag_id = $1 for no key update
), stored as (
  update timetable_plan p set runs = p.runs || $3::jsonb, manual = $4::jsonb, ended = $5, asked_until = $6,
    generation = p.generation + 1, failed_at = case when $7 then now() end
  from locked l
  where p.dag_id = l.dag_id and p.generation = $2
  returning p.dag_id, p.runs -> 0 as first
)
update dag d set next_dagrun = at.logical_date, next_dagrun_data_interval_start = at.interval_start,
  next_dagrun_data_interval_end = at.interval_end, next_dagrun_create_after = at.run_after
from stored s cross join lateral (
  select to_timestamp((s.first ->> 'logicalDate')::float8 / 1000) as logical_date,
    to_timestamp((s.first -> 'interval' ->> 'start')::float8 / 1000) as interval_start,
    to_timestamp((s.first -> 'interval' ->> 'end')::float8 / 1000) as interval_end,
    to_timestamp((s.first ->> 'runAfter')::float8 / 1000) as run_after
) at
where d.dag_id = s.dag_id
returning d.dag_id as "dagId"`,
});
