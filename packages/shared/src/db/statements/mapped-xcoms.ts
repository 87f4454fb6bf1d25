// The values over which tasks are mapped, and those of mapped tasks. Index: xcom's primary key.
import { defineStatement } from "../statement.ts";

/** Return values of unmapped tasks with the time at which each was written; without the value where that time is known. */
export const readXComVersions = defineStatement<
  readonly [dagRunIds: readonly number[], taskIds: readonly string[], known: readonly (string | null)[]],
  { readonly ordinal: number; readonly version: string; readonly value: unknown }
>({
  name: "read-xcom-versions",
  sql: `
select k.ordinal::int as ordinal, x.timestamp::text as version,
  case when k.known is distinct from x.timestamp::text then x.value end as value
from unnest($1::bigint[], $2::text[], $3::text[]) with ordinality as k(dag_run_id, task_id, known, ordinal)
join xcom x on x.dag_run_id = k.dag_run_id and x.task_id = k.task_id and x.map_index = -1 and x.key = 'return_value'`,
});

/** Which instances of a mapped task returned something, in order: the list that the task's value is. */
export const readMappedIndexes = defineStatement<
  readonly [dagId: string, runId: string, taskId: string],
  { readonly mapIndexes: readonly number[] }
>({
  name: "read-mapped-indexes",
  sql: `
select coalesce(array_agg(x.map_index order by x.map_index), '{}') as "mapIndexes"
from task_instance ti
join xcom x on x.dag_run_id = ti.dag_run_id and x.task_id = ti.task_id and x.map_index = ti.map_index and x.key = 'return_value'
where ti.dag_id = $1 and ti.run_id = $2 and ti.task_id = $3 and ti.map_index >= 0 and ti.state = 'success'`,
});

/** Values of a mapped task, by their places in the list of those that returned something. */
export const readMappedXComs = defineStatement<
  readonly [dagId: string, runId: string, taskId: string, offset: number, limit: number],
  { readonly value: unknown }
>({
  name: "read-mapped-xcoms",
  sql: `
select x.value
from task_instance ti
join xcom x on x.dag_run_id = ti.dag_run_id and x.task_id = ti.task_id and x.map_index = ti.map_index and x.key = 'return_value'
where ti.dag_id = $1 and ti.run_id = $2 and ti.task_id = $3 and ti.map_index >= 0 and ti.state = 'success'
order by x.map_index offset $4 limit $5`,
});

/** The first values of a mapped task after an index, and whose they are: the way to read all of them. */
export const readMappedXComsAfter = defineStatement<
  readonly [dagId: string, runId: string, taskId: string, after: number, limit: number],
  { readonly mapIndex: number; readonly value: unknown }
>({
  name: "read-mapped-xcoms-after",
  sql: `
select ti.map_index as "mapIndex", x.value
from task_instance ti
join xcom x on x.dag_run_id = ti.dag_run_id and x.task_id = ti.task_id and x.map_index = ti.map_index and x.key = 'return_value'
where ti.dag_id = $1 and ti.run_id = $2 and ti.task_id = $3 and ti.map_index > $4 and ti.state = 'success'
order by ti.map_index limit $5`,
});
