// The result of a run: the values of the tasks that say `returnsDagResult`. Their XComs are marked in the transaction in
// which the tasks end. Locks: the rows.
import { defineStatement } from "../statement.ts";

/** Of attempts that have ended just now. */
export const markDagResults = defineStatement<readonly [attemptIds: readonly string[]], never>({
  name: "mark-dag-results",
  sql: `
update xcom x set dag_result = true
from task_instance ti
where ti.id = any ($1::uuid[]) and x.dag_run_id = ti.dag_run_id and x.task_id = ti.task_id and x.map_index = ti.map_index
  and x.key = 'return_value'`,
});

/** @param taskIds null: of those that are marked */
export const readDagResults = defineStatement<
  readonly [dagRunId: number, taskIds: readonly string[] | null],
  { readonly taskId: string; readonly mapIndex: number; readonly value: unknown }
>({
  name: "read-dag-results",
  sql: `
select task_id as "taskId", map_index as "mapIndex", value from xcom
where dag_run_id = $1 and key = 'return_value' and case when $2::text[] is null then dag_result else task_id = any ($2) end
order by task_id, map_index`,
});
