// What the critical section decides from: pools, what occupies slots, and scheduled work in the order of admission. Run
// under the critical section's lock, as a statement of its own, so that its snapshot holds all that was queued before. Rows
// come as JSON in one row. A pause plays no part: it keeps runs from starting, and what a started run has goes on.
//
// In order: the first scheduled task instances, as many as there is room for. Cheap, and enough while nothing is blocked.
// By lanes: steps through the distinct (pool, dag, lane) of idx_ti_scheduled and takes the head of each, so that its cost
// follows the number of lanes and not of blocked task instances; pools that are full are passed over, and lanes whose dag is
// full give no row.
import type { Candidate, Occupancy, PoolLimits } from "../../model/index.ts";
import { defineStatement } from "../statement.ts";

export interface AdmissionRow {
  readonly pools: readonly PoolLimits[];
  readonly occupancy: readonly Occupancy[];
  /** The first of all heads in the order of admission; fewer than asked for means that there are no more. */
  readonly candidates: readonly (Candidate & { readonly versionId: string; readonly maxActiveTasks: number })[];
  /** How many more may be queued under parallelism. */
  readonly room: number;
  /** How many scheduled task instances were looked at. */
  readonly scanned: number;
}

const OCCUPANCY = `
with recursive occupying as materialized (
  select pool, dag_id, task_id, dag_run_id, count(*)::int as count, sum(pool_slots)::int as slots
  from task_instance where state in ('queued', 'running', 'restarting', 'shutdown')
  group by pool, dag_id, task_id, dag_run_id
), deferred as materialized (
  select t.pool, sum(t.pool_slots)::int as slots
  from slot_pool p join task_instance t on t.pool = p.pool and t.state = 'deferred'
  where p.include_deferred
  group by t.pool
), room as materialized (
  select least($2::int, greatest(0, $1::int - coalesce(sum(count), 0)::int)) as total from occupying
), pool_room as materialized (
  select p.pool, p.slots,
    case when p.slots < 0 then 2147483647
      else p.slots - coalesce((select sum(o.slots) from occupying o where o.pool = p.pool), 0)::int
                   - coalesce((select d.slots from deferred d where d.pool = p.pool), 0) end as room
  from slot_pool p
), dag_used as materialized (
  select dag_id, sum(count)::int as used from occupying group by dag_id
)`;

const CANDIDATE = `t.id, t.epoch, t.dag_id, t.task_id, t.dag_run_id, t.map_index, t.pool, t.pool_slots, t.queue, t.priority_weight,
      t.logical_date, t.run_after, t.dag_version_id`;

const SNAPSHOT = `
select
  (select coalesce(json_agg(json_build_object('pool', pool, 'slots', slots)), '[]') from pool_room) as pools,
  (select coalesce(json_agg(json_build_object('pool', pool, 'dagId', dag_id, 'taskId', task_id, 'dagRunId', dag_run_id,
    'count', count, 'slots', slots)), '[]')
   from (select * from occupying union all select pool, '', '', 0, 0, slots from deferred) o) as occupancy,
  (select coalesce(json_agg(json_build_object('id', id, 'epoch', epoch, 'dagId', dag_id, 'taskId', task_id,
    'dagRunId', dag_run_id, 'mapIndex', map_index, 'pool', pool, 'poolSlots', pool_slots, 'queue', queue,
    'priorityWeight', priority_weight, 'logicalDate', extract(epoch from logical_date) * 1000,
    'runAfter', extract(epoch from run_after) * 1000, 'versionId', dag_version_id, 'maxActiveTasks', max_active_tasks)), '[]')
   from head) as candidates,
  (select total from room) as room,
  (select count(*)::int from scanned) as scanned`;

type AdmissionParams = readonly [parallelism: number, queueAtMost: number, candidatesAtMost: number];

/** Index: idx_ti_scheduled_in_order. */
export const readAdmissionInOrder = defineStatement<AdmissionParams, AdmissionRow>({
  name: "read-admission-in-order",
  sql: `${OCCUPANCY}, scanned as materialized (
  select ${CANDIDATE}
  from task_instance t where t.state = 'scheduled'
  order by t.priority_weight desc, t.logical_date, t.run_after, t.map_index, t.id
  limit least($3::int, (select total from room))
), head as (
  select t.*, d.max_active_tasks from scanned t join dag d on d.dag_id = t.dag_id
)
${SNAPSHOT}`,
});

/** Index: idx_ti_scheduled. */
export const readAdmission = defineStatement<AdmissionParams, AdmissionRow>({
  name: "read-admission",
  sql: `${OCCUPANCY}, lane as (
  (select n.pool, n.dag_id, n.lane
   from pool_room p cross join lateral (
     select t.pool, t.dag_id, t.lane from task_instance t
     where t.state = 'scheduled' and t.pool = p.pool
     order by t.dag_id, t.lane limit 1
   ) n
   where p.room > 0 and (select total from room) > 0)
  union all
  select n.pool, n.dag_id, n.lane
  from lane l cross join lateral (
    select t.pool, t.dag_id, t.lane from task_instance t
    where t.state = 'scheduled' and t.pool = l.pool and (t.dag_id, t.lane) > (l.dag_id, l.lane)
    order by t.dag_id, t.lane limit 1
  ) n
), head as (
  select c.*, d.max_active_tasks
  from lane l
  join pool_room p on p.pool = l.pool
  join dag d on d.dag_id = l.dag_id
  left join dag_used u on u.dag_id = l.dag_id
  cross join lateral (
    select ${CANDIDATE}
    from task_instance t
    where t.state = 'scheduled' and t.pool = l.pool and t.dag_id = l.dag_id and t.lane = l.lane
    order by t.priority_weight desc, t.logical_date, t.run_after, t.map_index, t.id
    limit greatest(0, least((select total from room), p.room, d.max_active_tasks - coalesce(u.used, 0)))
  ) c
  order by c.priority_weight desc, c.logical_date, c.run_after, c.map_index, c.id
  limit $3
), scanned as (
  select from head
)
${SNAPSHOT}`,
});
