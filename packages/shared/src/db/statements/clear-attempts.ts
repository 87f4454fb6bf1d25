// Any state that no worker has → none: the earlier attempt goes to the history, the task instance gets a fresh one with
// all its retries. Pool, slots, queue and weight stay: they are of the version that the run is pinned to. Parallel arrays.
// Locks: the rows; the caller holds their runs.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";
import { DROP_TRIGGERS, FRESH_START, historyOf, KEEP_HISTORY, ONCE } from "./history.ts";

export type ClearParams = readonly [
  ids: readonly string[],
  epochs: readonly number[],
  newIds: readonly string[],
  retries: readonly number[],
];

const FROM = [
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

export const clearAttempts = defineStatement<ClearParams, { readonly id: string }>({
  name: "clear-attempts",
  transitions: FROM.map((from) => `${from}>none`),
  sql: `
with locked as (
  select ti.*, c.new_id, c.retries
  from unnest($1::uuid[], $2::int[], $3::uuid[], $4::int[]) as c(id, epoch, new_id, retries)
  join task_instance ti on ti.id = c.id and ti.epoch = c.epoch
    and ${stateOf("ti")} in (${FROM.map((state) => `'${state}'`).join(", ")})
  order by ti.id
  for update of ti
), kept as (
  ${KEEP_HISTORY}
  select ${historyOf("case when l.state in ('success', 'failed', 'skipped', 'upstream_failed', 'removed') then l.state else 'failed' end")}
  from locked l where l.try_number > 0
  ${ONCE}
), ${DROP_TRIGGERS}
update task_instance ti set id = l.new_id, state = null, epoch = ti.epoch + 1, max_tries = ti.try_number + l.retries,
  infra_failures = 0, start_date = null, end_date = null, duration = null, retry_at = null, state_reason = null,
  ${FRESH_START}, updated_at = now()
from locked l where ti.id = l.id
returning l.id`,
});
