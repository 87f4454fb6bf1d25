// Runs in which something happens are seen to be alive: the sweep is for those in which nothing does. The caller holds them.
import { defineStatement } from "../statement.ts";

export const stampRuns = defineStatement<readonly [ids: readonly number[]], never>({
  name: "stamp-runs",
  sql: `update dag_run set last_scheduling_decision = now() where id = any ($1::bigint[])`,
});
