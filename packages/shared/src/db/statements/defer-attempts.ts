// running → deferred: the attempt waits for a trigger, whose row is made here, and holds no worker. What it asks of people
// is stored with it. The attempt keeps its id, its XComs and its start: it resumes in the same try. Parallel arrays.
// Locks: the rows.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";
import { kept, withoutKept } from "./kept-waits.ts";

export type DeferParams = readonly [
  ids: readonly string[],
  epochs: readonly number[],
  triggers: readonly string[],
  /** JSON, or that encrypted, as the states. */
  kwargs: readonly string[],
  triggerQueues: readonly (string | null)[],
  /** `resume`: a worker goes on with the event. `end`: the event is the task's value. */
  onEvent: readonly string[],
  /** Given back with the event. */
  states: readonly string[],
  timeoutSeconds: readonly (number | null)[],
  /** JSON of a question to people; null for every other wait. */
  questions: readonly (string | null)[],
];

export const deferAttempts = defineStatement<DeferParams, { readonly id: string }>({
  name: "defer-attempts",
  transitions: ["running>deferred"],
  sql: `
with locked as (
  select ti.id, ti.dag_run_id, d.name, d.kwargs, d.queue, d.on_event, d.state, d.timeout, d.question::jsonb as q
  from unnest($1::uuid[], $2::int[], $3::text[], $4::text[], $5::text[], $6::text[], $7::text[], $8::float8[], $9::text[])
    as d(id, epoch, name, kwargs, queue, on_event, state, timeout, question)
  join task_instance ti on ti.id = d.id and ti.epoch = d.epoch and ${stateOf("ti")} = 'running'
  order by ti.id
  for update of ti
), numbered as materialized (
  select l.*, nextval(pg_get_serial_sequence('trigger', 'id'))::int as trigger_id from locked l
), made as (
  insert into trigger (id, classpath, kwargs, queue)
  select trigger_id, name, kwargs, queue from numbered
), asked as (
  insert into hitl_detail (ti_id, dag_run_id, options, subject, body, defaults, multiple, params, assignees)
  select id, dag_run_id, q->'options', q->>'subject', q->>'body', q->'defaults', (q->>'multiple')::boolean, q->'params',
    q->'assignedUsers'
  from numbered where q is not null
  on conflict (ti_id) do update set options = excluded.options, subject = excluded.subject, body = excluded.body,
    defaults = excluded.defaults, multiple = excluded.multiple, params = excluded.params, assignees = excluded.assignees,
    created_at = now(), responded_at = null, responded_by = null, chosen_options = null, params_input = '{}'
)
update task_instance ti set state = 'deferred', epoch = ti.epoch + 1, trigger_id = n.trigger_id,
  trigger_timeout = now() + make_interval(secs => n.timeout), next_method = n.on_event,
  next_kwargs = ${withoutKept("ti.next_kwargs", "state", "event")} || ${kept("state", "n.state")}, updated_at = now()
from numbered n where ti.id = n.id
returning ti.id`,
});
