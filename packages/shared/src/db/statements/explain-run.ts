// One run with all around it that decides whether it starts and its tasks go on: its DAG, the runs it competes with, and
// which processes live. Read in a snapshot with what is read of its tasks. Indexes: those of dag_run's state, idx_job_state_heart.
import { defineStatement } from "../statement.ts";

export interface ExplainedRun {
  readonly id: number;
  readonly now: Date;
  readonly state: "queued" | "running" | "success" | "failed";
  readonly stateReason: string | null;
  readonly runAfter: Date;
  readonly logicalDate: Date | null;
  readonly since: Date | null;
  readonly versionId: string | null;
  readonly isPaused: boolean;
  readonly maxActiveRuns: number;
  readonly maxActiveTasks: number;
  /** Null: it is of no backfill, and starts under its DAG's limit. */
  readonly backfill: {
    readonly id: number;
    readonly maxActiveRuns: number;
    /** Paused, and not over. */
    readonly isPaused: boolean;
  } | null;
  /** Runs that start under the same limit. */
  readonly running: readonly string[];
  readonly ahead: number;
  readonly liveSchedulers: number;
  readonly lastScheduler: Date | null;
  readonly triggerers: readonly { readonly queues: readonly string[] }[];
  readonly workers: readonly {
    readonly queues: readonly string[];
    readonly concurrency: number;
    readonly running: number;
  }[];
}

export const explainRunRow = defineStatement<
  readonly [dagId: string, runId: string, schedulerSilence: number, workerSilence: number, triggererSilence: number],
  ExplainedRun
>({
  name: "explain-run",
  sql: `
select r.id, now() as now, r.state, r.state_reason as "stateReason", r.run_after as "runAfter", r.logical_date as "logicalDate",
  coalesce((select x.at from dag_run_transition x where x.dag_run_id = r.id order by x.id desc limit 1), r.queued_at) as since,
  r.created_dag_version_id as "versionId", d.is_paused as "isPaused", d.max_active_runs as "maxActiveRuns",
  d.max_active_tasks as "maxActiveTasks",
  case when b.id is not null then json_build_object('id', b.id, 'maxActiveRuns', b.max_active_runs,
    'isPaused', b.is_paused and b.completed_at is null) end as backfill,
  array(select a.run_id from dag_run a where a.dag_id = r.dag_id and a.state = 'running'
    and case when b.id is null then a.run_type <> 'backfill' else a.backfill_id = b.id end
    order by a.run_after, a.id) as running,
  case when b.id is null then
    (select count(*)::int from dag_run q where q.dag_id = r.dag_id and q.state = 'queued' and q.backfill_id is null
      and (q.run_after, q.id) < (r.run_after, r.id))
  else
    (select count(*)::int from dag_run q where q.backfill_id = b.id and q.state = 'queued'
      and case when b.run_backwards then q.logical_date > r.logical_date else q.logical_date < r.logical_date end)
  end as ahead,
  (select count(*)::int from job where job_type = 'SchedulerJob' and state = 'running'
    and latest_heartbeat > now() - make_interval(secs => $3)) as "liveSchedulers",
  (select max(latest_heartbeat) from job where job_type = 'SchedulerJob') as "lastScheduler",
  (select coalesce(json_agg(json_build_object('queues', coalesce(queues, '{}'))), '[]') from job
    where job_type = 'TriggererJob' and state = 'running'
    and latest_heartbeat > now() - make_interval(secs => $5)) as triggerers,
  (select coalesce(json_agg(json_build_object('queues', coalesce(w.queues, '{}'), 'concurrency', coalesce(w.concurrency, 0),
      'running', (select count(*) from task_instance t
        where t.state in ('running', 'restarting', 'shutdown') and t.worker_job_id = w.id))), '[]')
    from job w where w.job_type = 'WorkerJob' and w.state = 'running'
    and w.latest_heartbeat > now() - make_interval(secs => $4)) as workers
from dag_run r
join dag d on d.dag_id = r.dag_id
left join backfill b on b.id = r.backfill_id
where r.dag_id = $1 and r.run_id = $2`,
});
