// Queued attempts of a scheduler that is gone get another, which sends them again: the first may have died before it sent
// them. Rows that somebody else adopts or claims at this moment are skipped, so each has one adopter. The epoch stays:
// whichever message is taken first makes the claim. The living are one value and no join: a row that another adopted a
// moment ago is looked at again with its new owner, and a join would keep to the old one.
import { defineStatement } from "../statement.ts";
import type { QueuedAttempt } from "./queue-tasks.ts";

export const adoptOrphans = defineStatement<readonly [schedulerJobId: number, limit: number], QueuedAttempt>({
  name: "adopt-orphans",
  sql: `
with orphans as (
  select ti.id from task_instance ti
  where ti.state = 'queued' and ti.queued_by_job_id is distinct from $1
    and (ti.queued_by_job_id = any ((select array_agg(id) from job where state = 'running')::int[])) is not true
  order by ti.id
  limit $2
  for update of ti skip locked
)
update task_instance ti set queued_by_job_id = $1, updated_at = now()
from orphans where ti.id = orphans.id
returning ti.id, ti.epoch, ti.queue`,
});
