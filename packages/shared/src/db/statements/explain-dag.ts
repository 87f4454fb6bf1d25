// One DAG with what decides whether it gets a run. Read in a snapshot with what is read of its assets.
// Indexes: those of dag_run's state, idx_job_state_heart.
import { defineStatement } from "../statement.ts";
import { TIMETABLE_ERROR } from "./timetable-set-errors.ts";

export interface ExplainedDag {
  readonly now: Date;
  readonly isPaused: boolean;
  readonly isStale: boolean;
  readonly hasImportErrors: boolean;
  readonly maxActiveRuns: number;
  readonly nextRunAt: Date | null;
  readonly versionId: string | null;
  readonly scheduleError: string | null;
  readonly active: readonly string[];
  readonly liveSchedulers: number;
  readonly lastScheduler: Date | null;
}

export const explainDagRow = defineStatement<readonly [dagId: string, schedulerSilence: number], ExplainedDag>({
  name: "explain-dag",
  sql: `
select now() as now, d.is_paused as "isPaused", d.is_stale as "isStale", d.has_import_errors as "hasImportErrors",
  d.max_active_runs as "maxActiveRuns", d.next_dagrun_create_after as "nextRunAt",
  (select v.id from dag_version v where v.dag_id = d.dag_id order by v.version_number desc limit 1) as "versionId",
  (select w.message from dag_warning w where w.dag_id = d.dag_id and w.warning_type = '${TIMETABLE_ERROR}') as "scheduleError",
  array(select r.run_id from dag_run r where r.dag_id = d.dag_id and r.state in ('queued', 'running')
    and r.run_type <> 'backfill' order by r.run_after, r.id) as active,
  (select count(*)::int from job where job_type = 'SchedulerJob' and state = 'running'
    and latest_heartbeat > now() - make_interval(secs => $2)) as "liveSchedulers",
  (select max(latest_heartbeat) from job where job_type = 'SchedulerJob') as "lastScheduler"
from dag d where d.dag_id = $1`,
});
