// How runs of other DAGs stand, or their tasks, for all waits whose poll is due. The waits come as one JSON array, each with
// `dagId`, `runIds`, `logicalDates` and, unless the runs themselves are meant, `taskIds` and `taskGroupId`; rows name the
// wait by its place. `none` is a task that has not begun. Index: dag_run (dag_id, run_id), (dag_id, logical_date).
import type { ExternalState } from "@millrace/sdk/spec";
import { defineStatement } from "../statement.ts";

const ASKED = `asked as materialized (
  select a.place::int - 1 as place, a.wait from jsonb_array_elements($1::jsonb) with ordinality as a(wait, place)
)`;

export const waitedExternalStates = defineStatement<
  readonly [waits: string],
  ExternalState & { readonly place: number }
>({
  name: "waited-external-states",
  sql: `
with ${ASKED}, runs as (
  select a.place, r.id, r.run_id, r.state, r.logical_date
  from asked a
  cross join lateral jsonb_array_elements_text(a.wait->'runIds') as x(run_id)
  join dag_run r on r.dag_id = a.wait->>'dagId' and r.run_id = x.run_id
  union
  select a.place, r.id, r.run_id, r.state, r.logical_date
  from asked a
  cross join lateral jsonb_array_elements_text(a.wait->'logicalDates') as x(logical_date)
  join dag_run r on r.dag_id = a.wait->>'dagId' and r.logical_date = x.logical_date::timestamptz
), found as (
  select r.place, r.run_id, r.logical_date, null as task_id, -1 as map_index, r.state
  from runs r join asked a using (place)
  where a.wait->'taskIds' is null and a.wait->'taskGroupId' is null
  union all
  select r.place, r.run_id, r.logical_date, ti.task_id, ti.map_index, coalesce(ti.state, 'none')
  from runs r
  join asked a using (place)
  join task_instance ti on ti.dag_id = a.wait->>'dagId' and ti.run_id = r.run_id
  where a.wait->'taskIds' ? ti.task_id or starts_with(ti.task_id, (a.wait->>'taskGroupId') || '.')
)
select place, run_id as "runId", to_char(logical_date at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"') as "logicalDate",
  task_id as "taskId", map_index as "mapIndex", state
from found order by place, run_id, task_id, map_index`,
});

/** Of the same waits those that name what the newest version of the DAG does not have. */
export const missingExternals = defineStatement<
  readonly [waits: string],
  { readonly place: number; readonly missing: string }
>({
  name: "missing-externals",
  sql: `
with ${ASKED}, named as (
  select a.place, a.wait, d.dag_id, (
    select s.data from serialized_dag s join dag_version v on v.id = s.dag_version_id
    where v.dag_id = d.dag_id order by v.version_number desc limit 1
  ) as data
  from asked a left join dag d on d.dag_id = a.wait->>'dagId' and not d.is_stale
)
select place, 'DAG ' || (wait->>'dagId') as missing from named where dag_id is null
union all
select n.place, 'task ' || t.task_id || ' of DAG ' || n.dag_id
from named n cross join lateral jsonb_array_elements_text(n.wait->'taskIds') as t(task_id)
where n.dag_id is not null and not exists (
  select from jsonb_array_elements(n.data::jsonb->'tasks') as s(task) where s.task->>'taskId' = t.task_id)
union all
select place, 'task group ' || (wait->>'taskGroupId') || ' of DAG ' || dag_id from named
where dag_id is not null and wait->>'taskGroupId' is not null and not exists (
  select from jsonb_array_elements(data::jsonb->'groups') as s(task_group) where s.task_group->>'groupId' = wait->>'taskGroupId')`,
});
