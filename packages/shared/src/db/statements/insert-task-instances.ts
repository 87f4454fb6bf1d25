// Creates the task instances of new runs, in state none. Parallel arrays, one entry a task instance.
import { defineStatement } from "../statement.ts";

export type InsertTaskInstancesParams = readonly [
  ids: readonly string[],
  dagRunIds: readonly number[],
  taskIds: readonly string[],
  maxTries: readonly number[],
  pools: readonly string[],
  poolSlots: readonly number[],
  queues: readonly string[],
  lanes: readonly string[],
  priorityWeights: readonly number[],
  operators: readonly string[],
  displayNames: readonly string[],
  /** Kinds of callback, joined by commas: arrays of arrays do not unnest. */
  callbacks: readonly string[],
];

export const insertTaskInstances = defineStatement<InsertTaskInstancesParams, never>({
  name: "insert-task-instances",
  sql: `
insert into task_instance (id, dag_run_id, dag_id, run_id, task_id, max_tries, pool, pool_slots, queue, lane,
  priority_weight, operator, task_display_name, callbacks, logical_date, run_after, dag_version_id)
select t.id, r.id, r.dag_id, r.run_id, t.task_id, t.max_tries, t.pool, t.pool_slots, t.queue, t.lane,
  t.priority_weight, t.operator, t.display_name,
  string_to_array(t.callbacks, ','), r.logical_date, r.run_after, r.created_dag_version_id
from unnest($1::uuid[], $2::bigint[], $3::text[], $4::int[], $5::text[], $6::int[], $7::text[], $8::text[], $9::int[],
  $10::text[], $11::text[], $12::text[])
  as t(id, dag_run_id, task_id, max_tries, pool, pool_slots, queue, lane, priority_weight, operator, display_name,
    callbacks)
join dag_run r on r.id = t.dag_run_id`,
});
