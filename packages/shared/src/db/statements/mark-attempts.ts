// Any state that no worker has → success, failed or skipped, because somebody or a rule of the whole run says so. The
// attempt keeps its id. Parallel arrays. Locks: the rows; the caller holds their runs.
import { defineStatement } from "../statement.ts";
import { DROP_TRIGGERS } from "./history.ts";

export type MarkParams = readonly [
  ids: readonly string[],
  epochs: readonly number[],
  states: readonly string[],
  reasons: readonly string[],
];

const FROM = [
  "none",
  "scheduled",
  "queued",
  "success",
  "failed",
  "up_for_retry",
  "up_for_reschedule",
  "deferred",
  "upstream_failed",
  "skipped",
  "removed",
];
const TO = ["success", "failed", "skipped"];

export const markAttempts = defineStatement<MarkParams, { readonly id: string }>({
  name: "mark-attempts",
  transitions: FROM.flatMap((from) => TO.filter((to) => to !== from).map((to) => `${from}>${to}`)),
  sql: `
with locked as (
  select ti.id, ti.trigger_id, m.state, m.reason
  from unnest($1::uuid[], $2::int[], $3::text[], $4::text[]) as m(id, epoch, state, reason)
  join task_instance ti on ti.id = m.id and ti.epoch = m.epoch
    and coalesce(ti.state, 'none') not in ('running', 'restarting', 'shutdown') and coalesce(ti.state, 'none') <> m.state
  order by ti.id
  for update of ti
), ${DROP_TRIGGERS}
update task_instance ti set state = w.state, epoch = ti.epoch + 1, start_date = coalesce(ti.start_date, now()), end_date = now(),
  duration = extract(epoch from now() - coalesce(ti.start_date, now())), retry_at = null, trigger_id = null, trigger_timeout = null,
  next_method = null, next_kwargs = null, state_reason = left(w.reason, 1000), updated_at = now()
from locked w where ti.id = w.id
returning ti.id`,
});
