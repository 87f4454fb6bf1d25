// XComs as running attempts read and write them. A write is fenced: an attempt that is no longer its task instance's own
// writes nothing and gets no row.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";

export const readXComs = defineStatement<
  readonly [
    dagIds: readonly string[],
    runIds: readonly string[],
    taskIds: readonly string[],
    mapIndexes: readonly number[],
    keys: readonly string[],
  ],
  { readonly ordinal: number; readonly value: unknown }
>({
  name: "read-xcoms",
  sql: `
select k.ordinal::int as ordinal, x.value
from unnest($1::text[], $2::text[], $3::text[], $4::int[], $5::text[]) with ordinality as k(dag_id, run_id, task_id, map_index, key, ordinal)
join dag_run r on r.dag_id = k.dag_id and r.run_id = k.run_id
join xcom x on x.dag_run_id = r.id and x.task_id = k.task_id and x.map_index = k.map_index and x.key = k.key`,
});

export const writeXCom = defineStatement<
  readonly [attemptId: string, epoch: number, key: string, value: string],
  { readonly written: boolean }
>({
  name: "write-xcom",
  sql: `
insert into xcom (dag_run_id, task_id, map_index, key, dag_id, run_id, value)
select ti.dag_run_id, ti.task_id, ti.map_index, $3, ti.dag_id, ti.run_id, $4::jsonb
from task_instance ti
where ti.id = $1 and ti.epoch = $2 and ${stateOf("ti")} = 'running'
for share
on conflict (dag_run_id, task_id, map_index, key) do update set value = excluded.value, timestamp = now()
returning true as written`,
});
