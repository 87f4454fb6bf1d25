// Rows of the audit log. Parallel arrays.
import { defineStatement } from "../statement.ts";

export type InsertLogParams = readonly [
  events: readonly string[],
  dagIds: readonly (string | null)[],
  taskIds: readonly (string | null)[],
  runIds: readonly (string | null)[],
  mapIndexes: readonly (number | null)[],
  tryNumbers: readonly (number | null)[],
  owners: readonly (string | null)[],
  extras: readonly (string | null)[],
];

export const insertLog = defineStatement<InsertLogParams, never>({
  name: "insert-log",
  sql: `
insert into log (event, dag_id, task_id, run_id, map_index, try_number, owner, extra)
select * from unnest($1::text[], $2::text[], $3::text[], $4::text[], $5::int[], $6::int[], $7::text[], $8::text[])`,
});
