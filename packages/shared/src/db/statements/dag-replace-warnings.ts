// Makes the warnings of dags these, but for that of a failing schedule; one that stays keeps its time. Parameters: the dags, then parallel arrays, one entry a
// warning. Locks: the rows that go and come.
import { defineStatement } from "../statement.ts";
import { TIMETABLE_ERROR } from "./timetable-set-errors.ts";

export const replaceWarnings = defineStatement<
  readonly [
    dagIds: readonly string[],
    warnedIds: readonly string[],
    types: readonly string[],
    messages: readonly string[],
  ],
  never
>({
  name: "dag-replace-warnings",
  sql: `
with wanted as (
  select dag_id, type, message from unnest($2::text[], $3::text[], $4::text[]) as w(dag_id, type, message)
), gone as (
  delete from dag_warning o where o.dag_id = any ($1) and o.warning_type <> '${TIMETABLE_ERROR}' and not exists (select from wanted w where w.dag_id = o.dag_id and w.type = o.warning_type)
)
insert into dag_warning as o (dag_id, warning_type, message) select dag_id, type, message from wanted
on conflict (dag_id, warning_type) do update set message = excluded.message, timestamp = now()
where o.message <> excluded.message`,
});
