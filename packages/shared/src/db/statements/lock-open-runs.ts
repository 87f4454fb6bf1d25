// The runs of a DAG that are not over. Locks: the runs, by id. The caller holds the dag.
import type { RunType } from "../../model/index.ts";
import { defineStatement } from "../statement.ts";

export interface OpenRun {
  readonly id: number;
  readonly runId: string;
  readonly state: string;
  readonly versionId: string;
  readonly logicalDate: Date | null;
  readonly runType: RunType;
}

export const lockOpenRuns = defineStatement<readonly [dagId: string], OpenRun>({
  name: "lock-open-runs",
  sql: `
select r.id, r.run_id as "runId", r.state, r.created_dag_version_id as "versionId", r.logical_date as "logicalDate",
  r.run_type as "runType"
from dag_run r
where r.dag_id = $1 and r.state in ('queued', 'running') and r.created_dag_version_id is not null
order by r.id
for update`,
});
