// deferred → scheduled for waits whose own time is over, by the database's clock: the task resumes and is told so. A
// scheduler does it, so that a wait ends in time though no triggerer lives. Index: idx_ti_trigger_timeout. Locks: the rows.
import { defineStatement } from "../statement.ts";
import { DROP_TRIGGERS } from "./history.ts";
import { withoutKept } from "./kept-waits.ts";

export interface TimedOutTrigger {
  readonly id: string;
  readonly dagRunId: number;
  readonly taskId: string;
}

export const timeOutTriggers = defineStatement<readonly [limit: number], TimedOutTrigger>({
  name: "time-out-triggers",
  transitions: ["deferred>scheduled"],
  sql: `
with locked as (
  select id, trigger_id from task_instance
  where state = 'deferred' and trigger_timeout <= now()
  order by id
  limit $1
  for update skip locked
), ${DROP_TRIGGERS}
update task_instance ti set state = 'scheduled', epoch = ti.epoch + 1, scheduled_dttm = now(), trigger_id = null,
  trigger_timeout = null, next_method = 'resume',
  next_kwargs = ${withoutKept("ti.next_kwargs", "event")} || '{"event": {"kind": "timeout"}}', updated_at = now()
from locked l where ti.id = l.id
returning ti.id, ti.dag_run_id as "dagRunId", ti.task_id as "taskId"`,
});
