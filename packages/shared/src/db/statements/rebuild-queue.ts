// Every queued attempt, to be sent to the broker anew, whenever it was sent last. updated_at marks the sending, so that the
// schedulers do not send it again at once. Locks: the rows, skipping those that are claimed at this moment.
import { defineStatement } from "../statement.ts";
import type { QueuedAttempt } from "./queue-tasks.ts";

/** In pages by attempt id; the first begins after the nil id. */
export const rebuildQueue = defineStatement<readonly [after: string, limit: number], QueuedAttempt>({
  name: "rebuild-queue",
  sql: `
with queued as (
  select id from task_instance where state = 'queued' and id > $1::uuid
  order by id
  limit $2
  for update skip locked
)
update task_instance ti set updated_at = now()
from queued where ti.id = queued.id
returning ti.id, ti.epoch, ti.queue`,
});
