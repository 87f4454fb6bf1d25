// A mapped task gets its instances: the one that stood for the whole task becomes index 0, and the others are created as it
// is, in state none. Given one that is expanded already, it only adds. The unique key of (dag, run, task, index) keeps a
// second scheduler from doubling anything. The attempt stays the same and nobody has it, so that its epoch does.
// Locks: the rows that are given; the caller holds their runs.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";

export type ExpandParams = readonly [
  /** Whose task is expanded. */
  ids: readonly string[],
  epochs: readonly number[],
  /** One entry for each new task instance: like which, its own id, its index. */
  like: readonly string[],
  newIds: readonly string[],
  mapIndexes: readonly number[],
];

export const expandTasks = defineStatement<ExpandParams, { readonly id: string }>({
  name: "expand-tasks",
  sql: `
with locked as (
  select ti.* from unnest($1::uuid[], $2::int[]) as e(id, epoch)
  join task_instance ti on ti.id = e.id and ti.epoch = e.epoch and ${stateOf("ti")} = 'none'
  order by ti.id
  for update of ti
), first as (
  update task_instance ti set map_index = 0, updated_at = now()
  from locked l where ti.id = l.id and l.map_index < 0
)
insert into task_instance (id, map_index, task_id, dag_id, run_id, dag_run_id, max_tries, logical_date, run_after, pool,
  pool_slots, queue, lane, priority_weight, operator, task_display_name, custom_operator_name, callbacks, executor, dag_version_id)
select n.id, n.map_index, l.task_id, l.dag_id, l.run_id, l.dag_run_id, greatest(l.max_tries - l.try_number, 0), l.logical_date,
  l.run_after, l.pool, l.pool_slots, l.queue, l.lane, l.priority_weight, l.operator, l.task_display_name,
  l.custom_operator_name, l.callbacks, l.executor, l.dag_version_id
from unnest($3::uuid[], $4::uuid[], $5::int[]) as n(of, id, map_index)
join locked l on l.id = n.of
on conflict (dag_id, run_id, task_id, map_index) do nothing
returning id`,
});

/** There is nothing to map over any more, or the task is not mapped any more: index 0 stands for the whole task again. */
export const collapseTasks = defineStatement<
  readonly [ids: readonly string[], epochs: readonly number[]],
  { readonly id: string }
>({
  name: "collapse-tasks",
  sql: `
with locked as (
  select ti.id from unnest($1::uuid[], $2::int[]) as e(id, epoch)
  join task_instance ti on ti.id = e.id and ti.epoch = e.epoch and ti.map_index = 0
    and coalesce(ti.state, 'none') in ('none', 'up_for_retry', 'up_for_reschedule')
  order by ti.id
  for update of ti
)
update task_instance ti set map_index = -1, rendered_map_index = null, updated_at = now()
from locked l where ti.id = l.id
returning ti.id`,
});
