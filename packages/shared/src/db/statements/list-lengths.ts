// How long the lists are over which tasks are mapped. Postgres looks at the values, or at the shape of those that are in the
// object store (shared/src/xcoms/shape.ts); none of them leaves it. Of a mapped
// task it is the number of its instances that returned something.
import { defineStatement } from "../statement.ts";

export interface ListLengthRow {
  /** From 1, in the order of the parameters. */
  readonly ordinal: number;
  /** JSON's name for what is there; null: nothing is. */
  readonly type: string | null;
  readonly length: number | null;
}

export const readListLengths = defineStatement<
  readonly [
    dagRunIds: readonly number[],
    taskIds: readonly string[],
    /** JSON arrays of field names. */
    paths: readonly string[],
    isMapped: readonly boolean[],
  ],
  ListLengthRow
>({
  name: "read-list-lengths",
  sql: `
select k.ordinal::int as ordinal,
  case
    when k.is_mapped then 'array'
    when v.is_stored then case jsonb_typeof(v.value) when 'number' then 'array' when 'string' then v.value #>> '{}' else jsonb_typeof(v.value) end
    else jsonb_typeof(v.value)
  end as type,
  case
    when k.is_mapped then m.length
    when v.is_stored then case when jsonb_typeof(v.value) = 'number' then (v.value #>> '{}')::int end
    when jsonb_typeof(v.value) = 'array' then jsonb_array_length(v.value)
  end as length
from unnest($1::bigint[], $2::text[], $3::text[], $4::boolean[]) with ordinality
  as k(dag_run_id, task_id, path, is_mapped, ordinal)
left join lateral (
  select s.is_stored, (case when s.is_stored then x.value -> 'shape' else x.value end)
    #> array(select jsonb_array_elements_text(k.path::jsonb)) as value
  from xcom x, lateral (select coalesce(x.value ->> '$millrace' = 'stored', false) as is_stored) s
  where not k.is_mapped and x.dag_run_id = k.dag_run_id and x.task_id = k.task_id and x.map_index = -1 and x.key = 'return_value'
  offset 0
) v on true
left join lateral (
  select count(*)::int as length
  from dag_run r
  join task_instance ti on ti.dag_id = r.dag_id and ti.run_id = r.run_id and ti.task_id = k.task_id
  join xcom x on x.dag_run_id = r.id and x.task_id = ti.task_id and x.map_index = ti.map_index and x.key = 'return_value'
  where k.is_mapped and r.id = k.dag_run_id and ti.map_index >= 0 and ti.state = 'success'
) m on true`,
});
