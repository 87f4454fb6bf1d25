// scheduled → queued for what the critical section admitted. A row that somebody holds at this moment is skipped, so
// that the section never waits for another's transaction; it stays scheduled and comes next time.
// The select sits in a CTE: as a sub-select its limit and locks could be evaluated more than once.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";

export interface QueuedAttempt {
  readonly id: string;
  readonly epoch: number;
  readonly queue: string;
}

export const queueTasks = defineStatement<
  readonly [ids: readonly string[], epochs: readonly number[], schedulerJobId: number],
  QueuedAttempt
>({
  name: "queue-tasks",
  transitions: ["scheduled>queued"],
  sql: `
with picked as (
  select ti.id, p.ordinal
  from unnest($1::uuid[], $2::int[]) with ordinality as p(id, epoch, ordinal)
  join task_instance ti on ti.id = p.id and ti.epoch = p.epoch and ${stateOf("ti")} = 'scheduled'
  for update of ti skip locked
), queued as (
  update task_instance ti set state = 'queued', epoch = ti.epoch + 1, queued_dttm = now(), queued_by_job_id = $3, updated_at = now()
  from picked where ti.id = picked.id
  returning ti.id, ti.epoch, ti.queue, picked.ordinal
)
select id, epoch, queue from queued order by ordinal`,
});
