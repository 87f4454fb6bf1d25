// none, up_for_retry → deferred: tasks that begin with a wait, before any worker has them. It begins their try, so the
// XComs of the one before go. Parallel arrays. Locks: the rows; the caller holds their runs.
import { defineStatement } from "../statement.ts";

export type StartFromTriggersParams = readonly [
  ids: readonly string[],
  epochs: readonly number[],
  from: readonly string[],
  triggers: readonly string[],
  /** JSON, or that encrypted. */
  kwargs: readonly string[],
  triggerQueues: readonly (string | null)[],
  onEvent: readonly string[],
  timeoutSeconds: readonly (number | null)[],
];

const FROM = ["none", "up_for_retry"];

export const startFromTriggers = defineStatement<StartFromTriggersParams, { readonly id: string }>({
  name: "start-from-triggers",
  transitions: FROM.map((from) => `${from}>deferred`),
  sql: `
with locked as (
  select ti.id, ti.dag_run_id, ti.task_id, ti.map_index, ti.try_number, d.name, d.kwargs, d.queue, d.on_event, d.timeout
  from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::float8[])
    as d(id, epoch, from_state, name, kwargs, queue, on_event, timeout)
  join task_instance ti on ti.id = d.id and ti.epoch = d.epoch and coalesce(ti.state, 'none') = d.from_state
    and d.from_state in (${FROM.map((state) => `'${state}'`).join(", ")})
  order by ti.id
  for update of ti
), numbered as materialized (
  select l.*, nextval(pg_get_serial_sequence('trigger', 'id'))::int as trigger_id from locked l
), made as (
  insert into trigger (id, classpath, kwargs, queue)
  select trigger_id, name, kwargs, queue from numbered
), cleared as (
  delete from xcom x using numbered n
  where n.try_number > 0 and x.dag_run_id = n.dag_run_id and x.task_id = n.task_id and x.map_index = n.map_index
)
update task_instance ti set state = 'deferred', epoch = ti.epoch + 1, try_number = ti.try_number + 1, start_date = now(),
  end_date = null, duration = null, retry_at = null, scheduled_dttm = now(), trigger_id = n.trigger_id,
  trigger_timeout = now() + make_interval(secs => n.timeout), next_method = n.on_event, next_kwargs = '{"state": null}',
  updated_at = now()
from numbered n where ti.id = n.id
returning ti.id`,
});
