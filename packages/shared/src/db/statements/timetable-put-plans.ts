// Writes plans of custom schedules, and takes away those of dags that have no such schedule any more. What was asked for an
// older plan no longer fits then: the generation rises. Parameters: dags without one, then parallel arrays, one entry a plan.
// Locks: the rows written; the caller holds the dag rows.
import { defineStatement } from "../statement.ts";

export const putTimetablePlans = defineStatement<
  readonly [
    without: readonly string[],
    dagIds: readonly string[],
    runs: readonly string[],
    manual: readonly string[],
    ended: readonly boolean[],
    askedUntil: readonly (Date | null)[],
  ],
  never
>({
  name: "timetable-put-plans",
  sql: `
with gone as (delete from timetable_plan where dag_id = any ($1))
insert into timetable_plan as t (dag_id, runs, manual, ended, asked_until)
select p.dag_id, p.runs::jsonb, p.manual::jsonb, p.ended, p.asked_until
from unnest($2::text[], $3::text[], $4::text[], $5::boolean[], $6::timestamptz[]) as p(dag_id, runs, manual, ended, asked_until)
on conflict (dag_id) do update set runs = excluded.runs, manual = excluded.manual, ended = excluded.ended,
  asked_until = excluded.asked_until, generation = t.generation + 1, failed_at = null`,
});
