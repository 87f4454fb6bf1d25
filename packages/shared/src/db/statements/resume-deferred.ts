// deferred → scheduled with what ended the wait, for many triggers at once; each trigger's row goes in the same statement.
// A trigger that no deferred task instance waits for gives no row: it fired already, or the task was cleared, marked or
// timed out. A task whose event is its value is left to `finish-deferred`, unless the trigger failed: that it has to be
// told. Parallel arrays. Locks: the rows.
import { defineStatement } from "../statement.ts";
import { DROP_TRIGGERS } from "./history.ts";
import { kept, withoutKept } from "./kept-waits.ts";

export interface ResumedTask {
  readonly triggerId: number;
  readonly dagRunId: number;
  readonly taskId: string;
}

export const resumeDeferred = defineStatement<
  readonly [
    triggerIds: readonly number[],
    /** JSON, or that encrypted. */
    events: readonly string[],
    hasFailed: readonly boolean[],
  ],
  ResumedTask
>({
  name: "resume-deferred",
  transitions: ["deferred>scheduled"],
  sql: `
with locked as (
  select ti.id, ti.trigger_id, f.event
  from unnest($1::int[], $2::text[], $3::boolean[]) as f(trigger_id, event, has_failed)
  join task_instance ti on ti.trigger_id = f.trigger_id and ti.state = 'deferred'
    and (ti.next_method is distinct from 'end' or f.has_failed)
  order by ti.id
  for update of ti
), ${DROP_TRIGGERS}
update task_instance ti set state = 'scheduled', epoch = ti.epoch + 1, scheduled_dttm = now(), trigger_id = null,
  trigger_timeout = null, next_method = 'resume',
  next_kwargs = ${withoutKept("ti.next_kwargs", "event")} || ${kept("event", "l.event")}, updated_at = now()
from locked l where ti.id = l.id
returning l.trigger_id as "triggerId", ti.dag_run_id as "dagRunId", ti.task_id as "taskId"`,
});
