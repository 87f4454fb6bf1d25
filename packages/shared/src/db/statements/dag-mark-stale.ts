// Marks dags that their file no longer declares: no new runs; they come back when they are read again.
// Locks: dag rows, which the caller holds.
import { defineStatement } from "../statement.ts";

export const markStale = defineStatement<readonly [dagIds: readonly string[]], never>({
  name: "dag-mark-stale",
  sql: `update dag set is_stale = true where dag_id = any ($1)`,
});
