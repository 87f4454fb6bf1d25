// Says of dags that their schedule fails, or (null) that it does not any more. Parallel arrays. Locks: the rows written.
import { defineStatement } from "../statement.ts";

/** dag_warning.warning_type of a schedule that fails. */
export const TIMETABLE_ERROR = "timetable error";

export const setTimetableErrors = defineStatement<
  readonly [dagIds: readonly string[], messages: readonly (string | null)[]],
  never
>({
  name: "timetable-set-errors",
  sql: `
with said as (
  select dag_id, message from unnest($1::text[], $2::text[]) as s(dag_id, message)
), gone as (
  delete from dag_warning w using said s where w.dag_id = s.dag_id and s.message is null and w.warning_type = '${TIMETABLE_ERROR}'
)
insert into dag_warning as w (dag_id, warning_type, message) select dag_id, '${TIMETABLE_ERROR}', message from said where message is not null
on conflict (dag_id, warning_type) do update set message = excluded.message, timestamp = now() where w.message <> excluded.message`,
});
