// Locks active runs for an examination, in the order of their ids, and waits for those another scheduler looks at:
// skipping them would lose the wake that named them.
import { defineStatement } from "../statement.ts";

export interface LockedRun {
  readonly id: number;
  readonly dagId: string;
  readonly runId: string;
  readonly state: "queued" | "running";
  readonly versionId: string;
  readonly runAfter: Date;
}

export const LOCKED_RUN_COLUMNS = `r.id, r.dag_id as "dagId", r.run_id as "runId", r.state, r.created_dag_version_id as "versionId",
  r.run_after as "runAfter"`;

export const lockRuns = defineStatement<readonly [ids: readonly number[]], LockedRun>({
  name: "lock-runs",
  sql: `
select ${LOCKED_RUN_COLUMNS}
from dag_run r
where r.id = any ($1::bigint[]) and r.state = 'running' and r.created_dag_version_id is not null
order by r.id
for no key update`,
});
