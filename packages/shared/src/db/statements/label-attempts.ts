// How instances of mapped tasks are shown in place of their index. Changes no state, and only while the attempt is still
// the worker's. Locks: the rows.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";

export const labelAttempts = defineStatement<
  readonly [ids: readonly string[], epochs: readonly number[], labels: readonly string[]],
  { readonly id: string }
>({
  name: "label-attempts",
  sql: `
update task_instance ti set rendered_map_index = l.label
from unnest($1::uuid[], $2::int[], $3::text[]) as l(id, epoch, label)
where ti.id = l.id and ti.epoch = l.epoch and ${stateOf("ti")} = 'running'
returning ti.id`,
});
