export { createRuns, type NewRun } from "./create-runs.ts";
export { CommitUnknownError, Database, type DatabaseOptions, type Queryable } from "./database.ts";
export { DagVersions } from "./dag-versions.ts";
export { HOSTNAME, Job, UNIXNAME, type JobOptions, type JobType } from "./job.ts";
export { migrate, requireSchema, type MigrateResult } from "./migrate.ts";
export { newId } from "./new-id.ts";
export { allStatements, defineStatement, type Statement } from "./statement.ts";
export * from "./statements/index.ts";
export { triggerRun, type TriggeredRun, type TriggerRequest } from "./trigger-run.ts";
