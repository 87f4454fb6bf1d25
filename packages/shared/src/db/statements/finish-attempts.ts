// running → success, failed or skipped, with the result's XComs and the branch decision in the same statement. An
// attempt that is no longer this worker's (another id, epoch or state) writes nothing and gives no row.
// Parallel arrays; XComs name their attempt. Locks: the rows.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";

export type FinishParams = readonly [
  ids: readonly string[],
  epochs: readonly number[],
  states: readonly string[],
  branchDecisions: readonly (string | null)[],
  xcomAttempts: readonly string[],
  xcomKeys: readonly string[],
  xcomValues: readonly string[],
  /** Why they failed; null for the others. */
  reasons: readonly (string | null)[],
];

/** What ended attempts hand on: a CTE over `done`, the rows that were ended, with the parameters as above. */
export const PUSH_RESULTS = `pushed as (
  insert into xcom (dag_run_id, task_id, map_index, key, dag_id, run_id, value)
  select d.dag_run_id, d.task_id, d.map_index, x.key, d.dag_id, d.run_id, x.value::jsonb
  from unnest($5::uuid[], $6::text[], $7::text[]) as x(id, key, value)
  join done d on d.id = x.id
  on conflict (dag_run_id, task_id, map_index, key) do update set value = excluded.value, timestamp = now()
)`;

export const finishAttempts = defineStatement<FinishParams, { readonly id: string }>({
  name: "finish-attempts",
  transitions: ["running>success", "running>failed", "running>skipped"],
  sql: `
with done as (
  update task_instance ti set state = f.state, epoch = ti.epoch + 1, end_date = now(),
    duration = extract(epoch from now() - ti.start_date), branch_decision = f.branch::jsonb, next_method = null, next_kwargs = null,
    state_reason = left(f.reason, 1000), updated_at = now()
  from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $8::text[]) as f(id, epoch, state, branch, reason)
  where ti.id = f.id and ti.epoch = f.epoch and ${stateOf("ti")} = 'running'
  returning ti.id, ti.dag_run_id, ti.dag_id, ti.run_id, ti.task_id, ti.map_index
), ${PUSH_RESULTS}
select id from done`,
});
