// running → up_for_retry: the ended attempt goes to the history, the task instance gets a new attempt id and the time
// from which it may be tried again. With `free` the try is not counted against the task's retries: its worker was lost
// or stopped, which `infra` counts when it was lost; it then goes on where a wait had brought it. Parallel arrays. Locks:
// the rows.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";
import { FRESH_ATTEMPT, historyOf, KEEP_HISTORY } from "./history.ts";

export type RetryParams = readonly [
  ids: readonly string[],
  epochs: readonly number[],
  newIds: readonly string[],
  delaySeconds: readonly number[],
  free: readonly boolean[],
  infra: readonly boolean[],
  reasons: readonly string[],
];

export const retryAttempts = defineStatement<RetryParams, { readonly id: string }>({
  name: "retry-attempts",
  transitions: ["running>up_for_retry"],
  sql: `
with locked as (
  select ti.*, f.new_id, f.delay, f.free, f.infra, f.reason
  from unnest($1::uuid[], $2::int[], $3::uuid[], $4::float8[], $5::boolean[], $6::boolean[], $7::text[])
    as f(id, epoch, new_id, delay, free, infra, reason)
  join task_instance ti on ti.id = f.id and ti.epoch = f.epoch and ${stateOf("ti")} = 'running'
  order by ti.id
  for update of ti
), kept as (
  ${KEEP_HISTORY}
  select ${historyOf("'failed'")} from locked l
), changed as (
  update task_instance ti set id = l.new_id, state = 'up_for_retry', epoch = ti.epoch + 1, end_date = now(),
    duration = extract(epoch from now() - ti.start_date), retry_at = now() + make_interval(secs => l.delay),
    max_tries = ti.max_tries + l.free::int, infra_failures = ti.infra_failures + l.infra::int,
    state_reason = left(l.reason, 1000),
    next_method = case when l.free then ti.next_method end, next_kwargs = case when l.free then ti.next_kwargs end,
    ${FRESH_ATTEMPT}, updated_at = now()
  from locked l where ti.id = l.id
)
select id from locked`,
});
