// running → up_for_reschedule: a sensor's poke was not yet true, and it gives its slot back until the next one. The same
// attempt and the same try go on, with their XComs; each poke leaves a row. Parallel arrays. Locks: the rows.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";
import { withoutKept } from "./kept-waits.ts";

export type RescheduleParams = readonly [
  ids: readonly string[],
  epochs: readonly number[],
  delaySeconds: readonly number[],
  /** When the poke was started, by the database's clock. */
  startedAt: readonly Date[],
];

export const rescheduleAttempts = defineStatement<RescheduleParams, { readonly id: string }>({
  name: "reschedule-attempts",
  transitions: ["running>up_for_reschedule"],
  sql: `
with locked as (
  select ti.id, ti.dag_run_id, f.delay, f.started_at
  from unnest($1::uuid[], $2::int[], $3::float8[], $4::timestamptz[]) as f(id, epoch, delay, started_at)
  join task_instance ti on ti.id = f.id and ti.epoch = f.epoch and ${stateOf("ti")} = 'running'
  order by ti.id
  for update of ti
), noted as (
  insert into task_reschedule (ti_id, dag_run_id, start_date, end_date, duration, reschedule_date)
  select id, dag_run_id, started_at, now(), extract(epoch from now() - started_at), now() + make_interval(secs => delay)
  from locked
)
update task_instance ti set state = 'up_for_reschedule', epoch = ti.epoch + 1, end_date = now(),
  retry_at = now() + make_interval(secs => l.delay), next_method = 'poke',
  next_kwargs = ${withoutKept("ti.next_kwargs", "event")}
    || jsonb_build_object('reschedules', coalesce((ti.next_kwargs->>'reschedules')::int, 0) + 1),
  updated_at = now()
from locked l where ti.id = l.id
returning ti.id`,
});
