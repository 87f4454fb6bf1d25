// Writes dags as their file declares them. A dag that is there keeps its pause; one that belongs to another file, and is
// not stale, is left alone and not returned. Parameters: the file, and a JSON array with an object of columns for each
// dag. Locks: dag rows, by id.
import { defineStatement } from "../statement.ts";

export const upsertDags = defineStatement<
  readonly [bundle: string, file: string, fileloc: string, parseSeconds: number, rows: string],
  { readonly dagId: string }
>({
  name: "dag-upsert",
  sql: `
insert into dag (dag_id, is_paused, is_stale, last_parsed_time, last_parse_duration, fileloc, relative_fileloc, bundle_name,
  owners, dag_display_name, description, timetable_type, timetable_summary, timetable_description, max_active_tasks,
  max_active_runs, max_consecutive_failed_dag_runs, has_task_concurrency_limits, has_import_errors, fail_fast,
  timetable_partitioned)
select r.dag_id, r.is_paused, false, now(), $4::float8, $3, $2, $1,
  r.owners, r.dag_display_name, r.description, r.timetable_type, r.timetable_summary, r.timetable_description, r.max_active_tasks,
  r.max_active_runs, r.max_consecutive_failed_dag_runs, r.has_task_concurrency_limits, false, r.fail_fast,
  r.timetable_partitioned
from jsonb_to_recordset($5::jsonb) as r(dag_id text, is_paused boolean, owners text, dag_display_name text, description text,
  timetable_type text, timetable_summary text, timetable_description text, max_active_tasks int, max_active_runs int,
  max_consecutive_failed_dag_runs int, has_task_concurrency_limits boolean, fail_fast boolean,
  timetable_partitioned boolean)
order by r.dag_id
on conflict (dag_id) do update set
  is_stale = false, last_parsed_time = excluded.last_parsed_time, last_parse_duration = excluded.last_parse_duration,
  fileloc = excluded.fileloc, relative_fileloc = excluded.relative_fileloc, bundle_name = excluded.bundle_name,
  owners = excluded.owners, dag_display_name = excluded.dag_display_name, description = excluded.description,
  timetable_type = excluded.timetable_type, timetable_summary = excluded.timetable_summary,
  timetable_description = excluded.timetable_description, max_active_tasks = excluded.max_active_tasks,
  max_active_runs = excluded.max_active_runs, max_consecutive_failed_dag_runs = excluded.max_consecutive_failed_dag_runs,
  has_task_concurrency_limits = excluded.has_task_concurrency_limits, has_import_errors = false, fail_fast = excluded.fail_fast,
  timetable_partitioned = excluded.timetable_partitioned
where dag.is_stale or (dag.bundle_name = excluded.bundle_name and dag.relative_fileloc = excluded.relative_fileloc)
returning dag_id as "dagId"`,
});
