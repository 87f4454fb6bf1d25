// Rows as Airflow's API spells them.
import type { DagSpec } from "@millrace/sdk/spec";
import type { DagRow, RecentRun as RecentRunRow, VersionRow } from "@millrace/shared/db";
import type { Dag, DagDetails, DagVersion, RecentRun } from "../types/index.ts";

export const instant = (date: Date | null): string | null => date?.toISOString() ?? null;

export function presentDag(dag: DagRow): Dag {
  const dagDisplayName = dag.dagDisplayName ?? dag.dagId;
  return {
    dag_id: dag.dagId,
    dag_display_name: dagDisplayName,
    is_paused: dag.isPaused,
    is_stale: dag.isStale,
    last_parsed_time: instant(dag.lastParsedTime),
    last_parse_duration: dag.lastParseDuration,
    last_expired: null,
    bundle_name: dag.bundleName,
    bundle_version: dag.bundleVersion,
    relative_fileloc: dag.relativeFileloc,
    fileloc: dag.fileloc ?? "",
    description: dag.description,
    timetable_summary: dag.timetableSummary,
    timetable_description: dag.timetableDescription,
    timetable_partitioned: false,
    tags: dag.tags.map((name) => ({ name, dag_id: dag.dagId, dag_display_name: dagDisplayName })),
    max_active_tasks: dag.maxActiveTasks,
    max_active_runs: dag.maxActiveRuns,
    max_consecutive_failed_dag_runs: dag.maxConsecutiveFailedDagRuns,
    has_task_concurrency_limits: dag.hasTaskConcurrencyLimits,
    has_import_errors: dag.hasImportErrors,
    next_dagrun_logical_date: instant(dag.nextDagrun),
    next_dagrun_data_interval_start: instant(dag.nextDagrunDataIntervalStart),
    next_dagrun_data_interval_end: instant(dag.nextDagrunDataIntervalEnd),
    next_dagrun_run_after: instant(dag.nextDagrunCreateAfter),
    allowed_run_types: null,
    owners: [...dag.owners],
    file_token: "",
  };
}

export const presentRecentRun = (run: RecentRunRow): RecentRun => ({
  dag_run_id: run.runId,
  state: run.state,
  run_after: run.runAfter.toISOString(),
  start_date: instant(run.startDate),
  end_date: instant(run.endDate),
});

export const presentVersion = (
  version: Pick<VersionRow, "id" | "versionNumber" | "dagId" | "createdAt"> & Partial<VersionRow>,
  dagDisplayName: string,
): DagVersion => ({
  id: version.id,
  version_number: version.versionNumber,
  dag_id: version.dagId,
  bundle_name: version.bundleName ?? null,
  bundle_version: version.bundleVersion ?? null,
  created_at: version.createdAt.toISOString(),
  dag_display_name: dagDisplayName,
  bundle_url: null,
});

/** Params without a default have none to show. */
export function presentParams({ params, paramSpecs = {} }: DagSpec): DagDetails["params"] {
  const names = new Set([...Object.keys(paramSpecs), ...Object.keys(params)]);
  return Object.fromEntries(
    Array.from(names, (name) => {
      const { schema = {}, description = null } = paramSpecs[name] ?? {};
      return [name, { value: params[name] ?? null, description, schema }];
    }),
  );
}
