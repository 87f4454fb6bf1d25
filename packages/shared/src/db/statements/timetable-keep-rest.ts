// Takes the runs that were created from the front of plans: what is left of each begins with its dag's next run. Run by
// whoever created them and holds the dag rows.
import { defineStatement } from "../statement.ts";

export const keepRestOfPlans = defineStatement<readonly [dagIds: readonly string[], runs: readonly string[]], never>({
  name: "timetable-keep-rest",
  sql: `
update timetable_plan t set runs = p.runs::jsonb
from unnest($1::text[], $2::text[]) as p(dag_id, runs)
where t.dag_id = p.dag_id`,
});
