// Task instances whose task is not in the version that their run was moved to. The caller holds the runs.
import { defineStatement } from "../statement.ts";
import { DROP_TRIGGERS } from "./history.ts";

const FROM = ["none", "scheduled", "queued", "deferred", "up_for_retry", "up_for_reschedule"];

export const removeAttempts = defineStatement<
  readonly [ids: readonly string[], epochs: readonly number[]],
  { readonly id: string }
>({
  name: "remove-attempts",
  transitions: FROM.map((from) => `${from}>removed`),
  sql: `
with locked as (
  select ti.id, ti.trigger_id
  from unnest($1::uuid[], $2::int[]) as r(id, epoch)
  join task_instance ti on ti.id = r.id and ti.epoch = r.epoch
    and coalesce(ti.state, 'none') in (${FROM.map((state) => `'${state}'`).join(", ")})
  order by ti.id
  for update of ti
), ${DROP_TRIGGERS}
update task_instance ti set state = 'removed', epoch = ti.epoch + 1, end_date = now(), retry_at = null, trigger_id = null,
  trigger_timeout = null, next_method = null, next_kwargs = null,
  state_reason = 'its run was moved to a version of the DAG without this task', updated_at = now()
from locked l where ti.id = l.id
returning ti.id`,
});
