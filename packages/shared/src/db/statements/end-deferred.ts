// A wait that ends its task without a worker: deferred → success, failed or skipped with the result's XComs, or
// up_for_retry as after any failure. The trigger's row goes in the same statement. Parallel arrays. Locks: the rows.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";
import { PUSH_RESULTS, type FinishParams } from "./finish-attempts.ts";
import { DROP_TRIGGERS, FRESH_START, historyOf, KEEP_HISTORY } from "./history.ts";

/** Same parameters as `finish-attempts`; the branch decisions are null. */
export const finishDeferred = defineStatement<FinishParams, { readonly id: string }>({
  name: "finish-deferred",
  transitions: ["deferred>success", "deferred>failed", "deferred>skipped"],
  sql: `
with locked as (
  select ti.id, ti.trigger_id, f.state, f.branch, f.reason
  from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $8::text[]) as f(id, epoch, state, branch, reason)
  join task_instance ti on ti.id = f.id and ti.epoch = f.epoch and ${stateOf("ti")} = 'deferred'
  order by ti.id
  for update of ti
), ${DROP_TRIGGERS}, done as (
  update task_instance ti set state = l.state, epoch = ti.epoch + 1, end_date = now(),
    duration = extract(epoch from now() - ti.start_date), branch_decision = l.branch::jsonb, trigger_id = null,
    trigger_timeout = null, next_method = null, next_kwargs = null, state_reason = left(l.reason, 1000), updated_at = now()
  from locked l where ti.id = l.id
  returning ti.id, ti.dag_run_id, ti.dag_id, ti.run_id, ti.task_id, ti.map_index
), ${PUSH_RESULTS}
select id from done`,
});

export const retryDeferred = defineStatement<
  readonly [
    ids: readonly string[],
    epochs: readonly number[],
    newIds: readonly string[],
    delaySeconds: readonly number[],
    reasons: readonly string[],
  ],
  { readonly id: string }
>({
  name: "retry-deferred",
  transitions: ["deferred>up_for_retry"],
  sql: `
with locked as (
  select ti.*, f.new_id, f.delay, f.reason
  from unnest($1::uuid[], $2::int[], $3::uuid[], $4::float8[], $5::text[]) as f(id, epoch, new_id, delay, reason)
  join task_instance ti on ti.id = f.id and ti.epoch = f.epoch and ${stateOf("ti")} = 'deferred'
  order by ti.id
  for update of ti
), ${DROP_TRIGGERS}, kept as (
  ${KEEP_HISTORY}
  select ${historyOf("'failed'")} from locked l
), changed as (
  update task_instance ti set id = l.new_id, state = 'up_for_retry', epoch = ti.epoch + 1, end_date = now(),
    duration = extract(epoch from now() - ti.start_date), retry_at = now() + make_interval(secs => l.delay),
    state_reason = left(l.reason, 1000), ${FRESH_START}, updated_at = now()
  from locked l where ti.id = l.id
)
select id from locked`,
});
