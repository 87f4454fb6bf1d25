// How runs of another DAG stand, or their tasks: what tasks that wait for them ask. `none` is a task that has not begun.
// Index: (dag_id, run_id, task_id, map_index), idx_dag_run_dag_id_logical_date.
import type { ExternalState } from "@millrace/sdk/runtime";
import { defineStatement } from "../statement.ts";

export type ExternalStatesParams = readonly [
  dagId: string,
  /** With a group null as well: the runs themselves. */
  taskIds: readonly string[] | null,
  taskGroupId: string | null,
  runIds: readonly string[],
  logicalDates: readonly string[],
];

export const readExternalStates = defineStatement<ExternalStatesParams, ExternalState>({
  name: "read-external-states",
  sql: `
with runs as (
  select r.dag_id, r.run_id, r.state from dag_run r
  where r.dag_id = $1 and (r.run_id = any ($4::text[]) or r.logical_date = any ($5::timestamptz[]))
)
select run_id as "runId", null as "taskId", -1 as "mapIndex", state from runs where $2::text[] is null and $3::text is null
union all
select r.run_id, ti.task_id, ti.map_index, coalesce(ti.state, 'none')
from runs r
join task_instance ti on ti.dag_id = r.dag_id and ti.run_id = r.run_id
where ti.task_id = any ($2) or starts_with(ti.task_id, $3 || '.')`,
});
