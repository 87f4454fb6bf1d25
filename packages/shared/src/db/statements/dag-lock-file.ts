// Locks the dags of one file: those it had, and those it declares now whatever file they belong to. Locks: dag rows, by id.
import { defineStatement } from "../statement.ts";

export interface LockedDag {
  readonly dagId: string;
  /** Relative to the DAG folder. */
  readonly file: string;
  readonly fileloc: string;
  readonly isStale: boolean;
  readonly hasImportErrors: boolean;
  readonly maxActiveTasks: number;
  readonly maxActiveRuns: number;
}

export const lockDagFile = defineStatement<
  readonly [bundle: string, file: string, dagIds: readonly string[]],
  LockedDag
>({
  name: "dag-lock-file",
  sql: `
select dag_id as "dagId", coalesce(relative_fileloc, '') as file, coalesce(fileloc, '') as fileloc, is_stale as "isStale",
  has_import_errors as "hasImportErrors", max_active_tasks as "maxActiveTasks", max_active_runs as "maxActiveRuns"
from dag
where dag_id = any ($3) or (bundle_name = $1 and relative_fileloc = $2)
order by dag_id
for no key update`,
});
