// The process of a stopped attempt is gone: restarting → none with a fresh attempt and no try used, shutdown → its mark.
// Written by the worker that had it, or by the sweep when that worker is lost. Parallel arrays. Locks: the rows.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";
import { FRESH_START, historyOf, KEEP_HISTORY, ONCE } from "./history.ts";

export type ConfirmStoppedParams = readonly [
  ids: readonly string[],
  epochs: readonly number[],
  newIds: readonly string[],
  /** Retries of the task: a restarted task instance gets all of them again. */
  retries: readonly number[],
];

export interface ConfirmedStop {
  readonly dagRunId: number;
  readonly taskId: string;
  readonly state: string;
}

export const confirmStopped = defineStatement<ConfirmStoppedParams, ConfirmedStop>({
  name: "confirm-stopped",
  transitions: ["restarting>none", "shutdown>failed", "shutdown>success", "shutdown>skipped"],
  sql: `
with locked as (
  select ti.*, s.new_id, s.retries
  from unnest($1::uuid[], $2::int[], $3::uuid[], $4::int[]) as s(id, epoch, new_id, retries)
  join task_instance ti on ti.id = s.id and ti.epoch = s.epoch and ${stateOf("ti")} in ('restarting', 'shutdown')
  order by ti.id
  for update of ti
), kept as (
  ${KEEP_HISTORY}
  select ${historyOf("'failed'")} from locked l where l.state = 'restarting'
  ${ONCE}
), restarted as (
  update task_instance ti set id = l.new_id, state = null, epoch = ti.epoch + 1, max_tries = ti.try_number + l.retries,
    infra_failures = 0, start_date = null, end_date = null, duration = null, retry_at = null, state_reason = null,
    ${FRESH_START}, updated_at = now()
  from locked l where ti.id = l.id and l.state = 'restarting'
  returning ti.dag_run_id, ti.task_id, 'none' as state
), ended as (
  update task_instance ti set state = coalesce(l.mark, 'failed'), epoch = ti.epoch + 1, mark = null, end_date = now(),
    duration = extract(epoch from now() - ti.start_date), updated_at = now()
  from locked l where ti.id = l.id and l.state = 'shutdown'
  returning ti.dag_run_id, ti.task_id, ti.state
)
select dag_run_id as "dagRunId", task_id as "taskId", state from restarted
union all select dag_run_id, task_id, state from ended`,
});
