// Runs that go on with another version of their DAG, and their task instances that start with it: what the task says there
// of pool, slots, queue, weight and callbacks. No state changes. The caller holds the runs.
import { defineStatement } from "../statement.ts";

export const moveRuns = defineStatement<readonly [ids: readonly number[], versionId: string], { readonly id: number }>({
  name: "move-runs",
  sql: `
update dag_run set created_dag_version_id = $2, updated_at = now(),
  bundle_version = (select v.bundle_version from dag_version v where v.id = $2)
where id = any ($1::bigint[]) and created_dag_version_id is distinct from $2
returning id`,
});

export type RefreshParams = readonly [
  ids: readonly string[],
  versionId: string,
  pools: readonly string[],
  poolSlots: readonly number[],
  queues: readonly string[],
  lanes: readonly string[],
  priorityWeights: readonly number[],
  operators: readonly string[],
  displayNames: readonly string[],
  /** Comma-joined. */
  callbacks: readonly string[],
];

export const refreshTaskInstances = defineStatement<RefreshParams, { readonly id: string }>({
  name: "refresh-task-instances",
  sql: `
update task_instance ti set dag_version_id = $2, pool = t.pool, pool_slots = t.pool_slots, queue = t.queue, lane = t.lane,
  priority_weight = t.priority_weight, operator = t.operator, task_display_name = t.display_name,
  callbacks = string_to_array(t.callbacks, ','), updated_at = now()
from unnest($1::uuid[], $3::text[], $4::int[], $5::text[], $6::text[], $7::int[], $8::text[], $9::text[], $10::text[])
  as t(id, pool, pool_slots, queue, lane, priority_weight, operator, display_name, callbacks)
where ti.id = t.id and coalesce(ti.state, 'none') not in ('queued', 'running', 'restarting', 'shutdown')
returning ti.id`,
});
