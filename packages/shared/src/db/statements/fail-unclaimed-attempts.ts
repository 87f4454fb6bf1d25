// queued → failed for attempts that no worker took in all the time they had. The log row says so.
import { defineStatement } from "../statement.ts";

export const failUnclaimedAttempts = defineStatement<
  readonly [olderThanSeconds: number, limit: number],
  { readonly dagRunId: number; readonly taskId: string; readonly queue: string }
>({
  name: "fail-unclaimed-attempts",
  transitions: ["queued>failed"],
  sql: `
with lost as (
  select id from task_instance
  where state = 'queued' and queued_dttm < now() - make_interval(secs => $1)
  order by queued_dttm
  limit $2
  for update skip locked
), failed as (
  update task_instance ti set state = 'failed', epoch = ti.epoch + 1, end_date = now(), updated_at = now(),
    state_reason = format('no worker of queue %s claimed it within %s s', ti.queue, $1)
  from lost where ti.id = lost.id
  returning ti.*
), noted as (
  insert into log (event, dag_id, task_id, run_id, map_index, try_number, logical_date, owner, extra)
  select 'stuck in queued', dag_id, task_id, run_id, map_index, try_number, logical_date, 'scheduler',
    format('no worker of queue %s claimed it within %s s', queue, $1) from failed
)
select dag_run_id as "dagRunId", task_id as "taskId", queue from failed`,
});
