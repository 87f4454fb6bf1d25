// Writes what the deciders said of task instances that nobody has. A row that changed since it was read (its epoch or
// state is another) stays as it is; the next examination sees it afresh. try_number rises when an attempt is scheduled,
// except after a reschedule, which is the same try. Locks: the rows, by id where the caller sorted them.
import { defineStatement } from "../statement.ts";

const FROM = ["none", "up_for_retry", "up_for_reschedule"];
const TO = ["scheduled", "success", "skipped", "upstream_failed", "removed"];

export const applyDecisions = defineStatement<
  readonly [ids: readonly string[], epochs: readonly number[], from: readonly string[], to: readonly string[]],
  { readonly id: string }
>({
  name: "apply-decisions",
  transitions: FROM.flatMap((from) => TO.map((to) => `${from}>${to}`)),
  sql: `
update task_instance ti set
  state = d.to_state,
  epoch = ti.epoch + 1,
  try_number = ti.try_number + case when d.to_state in ('scheduled', 'success') and d.from_state <> 'up_for_reschedule' then 1 else 0 end,
  scheduled_dttm = case when d.to_state = 'scheduled' then now() else ti.scheduled_dttm end,
  start_date = case when d.to_state = 'success' then now() else ti.start_date end,
  end_date = case when d.to_state = 'scheduled' then null else now() end,
  duration = case when d.to_state = 'success' then 0 else ti.duration end,
  retry_at = null,
  updated_at = now()
from unnest($1::uuid[], $2::int[], $3::text[], $4::text[]) as d(id, epoch, from_state, to_state)
where ti.id = d.id and ti.epoch = d.epoch and coalesce(ti.state, 'none') = d.from_state
  and d.from_state in (${FROM.map((state) => `'${state}'`).join(", ")})
returning ti.id`,
});
