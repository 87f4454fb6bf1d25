// Queued attempts that nobody claimed for a while, to be sent to the broker again: their message was lost, or never sent.
// Their epoch stays: whichever message is taken first makes the claim. updated_at marks the last sending.
import { defineStatement } from "../statement.ts";
import type { QueuedAttempt } from "./queue-tasks.ts";

export const redispatchAttempts = defineStatement<readonly [olderThanSeconds: number, limit: number], QueuedAttempt>({
  name: "redispatch-attempts",
  sql: `
with lost as (
  select id from task_instance
  where state = 'queued' and updated_at < now() - make_interval(secs => $1)
  order by queued_dttm
  limit $2
  for update skip locked
)
update task_instance ti set updated_at = now()
from lost where ti.id = lost.id
returning ti.id, ti.epoch, ti.queue`,
});
