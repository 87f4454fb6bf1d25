// What is going on, for the screen. Read once a second, so each part goes by an index whatever history there is.
import type { Database } from "@millrace/shared/db";
import type { RunState } from "@millrace/shared/model";

export interface RunLine {
  readonly dagId: string;
  readonly runId: string;
  readonly state: RunState;
  readonly finished: number;
  readonly total: number;
  /** Seconds since it started, or that it took. */
  readonly seconds: number | null;
}

export interface Overview {
  readonly dags: number;
  readonly unpaused: number;
  readonly importErrors: number;
  readonly queuedRuns: number;
  readonly runningRuns: number;
  readonly tasksLastMinute: number;
  readonly runs: readonly RunLine[];
}

const COUNTS = `
with shown as (
  select r.dag_id, r.run_id from dag_run r where r.state in ('running', 'queued')
  union
  select r.dag_id, r.run_id from (select * from dag_run_transition order by id desc limit 500) t
  join dag_run r on r.id = t.dag_run_id where t.at > now() - interval '1 minute'
)
select (select count(*)::int from dag where not is_stale) as dags,
  (select count(*)::int from dag where not is_stale and not is_paused) as unpaused,
  (select count(*)::int from import_error) as "importErrors",
  (select count(*)::int from dag_run where state = 'queued') as "queuedRuns",
  (select count(*)::int from dag_run where state = 'running') as "runningRuns",
  (select count(*)::int from shown join task_instance ti using (dag_id, run_id)
    where ti.end_date > now() - interval '1 minute') as "tasksLastMinute"`;

// Those under way first, then what ended last.
const RUNS = `
with chosen as (
  (select id, 0 as rank from dag_run where state in ('running', 'queued') order by id desc limit $1)
  union all
  (select dag_run_id, 1 from (select distinct on (dag_run_id) dag_run_id, id from (
     select * from dag_run_transition order by id desc limit 100) t
     where to_state in ('success', 'failed') order by dag_run_id, id desc) e order by e.id desc limit $1)
)
select r.dag_id as "dagId", r.run_id as "runId", r.state, ti.finished, ti.total,
  extract(epoch from coalesce(r.end_date, now()) - r.start_date)::float8 as seconds
from (select id, min(rank) as rank from chosen group by id) c join dag_run r using (id)
cross join lateral (
  select count(*)::int as total,
    count(*) filter (where t.state in ('success', 'failed', 'skipped', 'upstream_failed', 'removed'))::int as finished
  from task_instance t where t.dag_id = r.dag_id and t.run_id = r.run_id) ti
order by c.rank, r.end_date desc nulls first, r.id desc limit $1`;

export async function readOverview(db: Database, maxRuns: number): Promise<Overview> {
  const [[counts], runs] = await Promise.all([
    db.read<Omit<Overview, "runs">>(COUNTS),
    db.read<RunLine>(RUNS, [maxRuns]),
  ]);
  if (counts === undefined) throw new Error("a query without a table gave no row");
  return { ...counts, runs };
}
