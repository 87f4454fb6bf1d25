// Notes that dags were read again and are as they were. Locks: dag rows, which the caller holds.
import { defineStatement } from "../statement.ts";

export const touchDags = defineStatement<readonly [dagIds: readonly string[], parseSeconds: number], never>({
  name: "dag-touch",
  sql: `update dag set last_parsed_time = now(), last_parse_duration = $2::float8 where dag_id = any ($1)`,
});
