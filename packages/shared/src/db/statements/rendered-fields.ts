// The template fields of a running attempt, stored before its operator runs, and those of old runs dropped. Fenced as
// XComs are: an attempt that is no longer its task instance's own writes nothing and gets no row.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";

export const putRenderedFields = defineStatement<
  readonly [attemptId: string, epoch: number, fields: string],
  { readonly written: boolean }
>({
  name: "put-rendered-fields",
  sql: `
insert into rendered_task_instance_fields (dag_id, task_id, run_id, map_index, rendered_fields)
select ti.dag_id, ti.task_id, ti.run_id, ti.map_index, $3::json
from task_instance ti
where ti.id = $1 and ti.epoch = $2 and ${stateOf("ti")} = 'running'
for share
on conflict (dag_id, task_id, run_id, map_index) do update set rendered_fields = excluded.rendered_fields
returning true as written`,
});

/**
 * Keeps the fields of the newest runs of a task. A row that somebody else has is left to the next time. Costs one look
 * at the rows that are kept, by the primary key.
 */
export const dropOldRenderedFields = defineStatement<
  readonly [dagId: string, taskId: string, keep: number],
  { readonly dropped: number }
>({
  name: "drop-old-rendered-fields",
  sql: `
with kept as (
  select r.run_id
  from (select distinct run_id from rendered_task_instance_fields where dag_id = $1 and task_id = $2) f
  join dag_run r on r.dag_id = $1 and r.run_id = f.run_id
  order by r.run_after desc, r.id desc
  limit $3
), old as (
  select ctid from rendered_task_instance_fields
  where dag_id = $1 and task_id = $2 and run_id not in (select run_id from kept)
  for update skip locked
), dropped as (
  delete from rendered_task_instance_fields where ctid in (select ctid from old) returning 1
)
select count(*)::int as dropped from dropped`,
});

/** The newest run with an earlier logical date that succeeded: what Airflow's `prev_…_success` are about. */
export const readPreviousSuccess = defineStatement<
  readonly [dagId: string, logicalDate: Date],
  {
    readonly dataIntervalStart: Date | null;
    readonly dataIntervalEnd: Date | null;
    readonly startDate: Date | null;
    readonly endDate: Date | null;
  }
>({
  name: "read-previous-success",
  sql: `
select data_interval_start as "dataIntervalStart", data_interval_end as "dataIntervalEnd", start_date as "startDate",
  end_date as "endDate"
from dag_run
where dag_id = $1 and logical_date < $2 and state = 'success'
order by logical_date desc
limit 1`,
});
