// Task instances whose retry or reschedule delay is over: their runs are to be examined. Index: idx_ti_retry_at.
import { defineStatement } from "../statement.ts";

export const runsWithDueTasks = defineStatement<
  readonly [limit: number],
  { readonly dagRunId: number; readonly taskId: string }
>({
  name: "runs-with-due-tasks",
  sql: `
select dag_run_id as "dagRunId", task_id as "taskId"
from task_instance
where state in ('up_for_retry', 'up_for_reschedule') and retry_at <= now()
order by retry_at
limit $1`,
});
