// Deferred task instances in bulk, as workers would have left them, and what became of them: for tests and measurements of
// triggerers that need no scheduler and no worker.
import { randomUUID } from "node:crypto";

type Query = <R>(sql: string, params?: readonly unknown[]) => Promise<readonly R[]>;

export interface SeedWaits {
  readonly count: number;
  /** When the first is due, in seconds from now. */
  readonly firstSeconds: number;
  /** From the first to the last, evenly. */
  readonly spreadSeconds: number;
}

/** A run of a DAG of its own whose tasks all wait for a moment. Gives its id. Triggerers are still to be called. */
export async function seedWaits(query: Query, { count, firstSeconds, spreadSeconds }: SeedWaits): Promise<number> {
  const [version, dagId] = [randomUUID(), `waits_${randomUUID()}`];
  await query(
    `insert into dag (dag_id, is_paused, bundle_name, max_active_tasks, max_active_runs) values ($1, false, 'dags-folder', 16, 16)`,
    [dagId],
  );
  await query("insert into dag_artifact (hash, code, source_map) values ($1, '', '{}')", [dagId]);
  await query("insert into dag_version (id, dag_id, artifact_hash) values ($1, $2, $2)", [version, dagId]);
  const [run] = await query<{ id: string }>(
    `insert into dag_run (dag_id, run_id, run_type, state, run_after, created_dag_version_id, conf)
     values ($1, 'r', 'manual', 'running', now(), $2, '{}') returning id`,
    [dagId, version],
  );
  const id = Number(run?.id);
  await query(
    `with numbered as materialized (
       select n, nextval(pg_get_serial_sequence('trigger', 'id'))::int as trigger_id,
         now() + make_interval(secs => $3::float8 + $4::float8 * n / $2::int) as at
       from generate_series(0, $2::int - 1) n
     ), made as (
       insert into trigger (id, classpath, kwargs)
       select trigger_id, 'millrace.time', jsonb_build_object('at', to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS.MS"Z"'))::text
       from numbered
     )
     insert into task_instance (id, dag_run_id, dag_id, run_id, run_after, dag_version_id, task_id, state, epoch, try_number,
       start_date, trigger_id, next_method, next_kwargs)
     select gen_random_uuid(), r.id, r.dag_id, r.run_id, r.run_after, r.created_dag_version_id, 't' || n, 'deferred', 4, 1,
       now(), trigger_id, 'resume', '{"state": null}'
     from numbered cross join dag_run r where r.id = $1`,
    [id, count, firstSeconds, spreadSeconds],
  );
  return id;
}

export interface WaitsOutcome {
  /** Still deferred. */
  readonly waiting: number;
  readonly resumed: number;
  /** Tasks that were resumed more than once. */
  readonly twice: number;
  readonly early: number;
  /** From the moment that was waited for to the writing of the event. */
  readonly lateMsP50: number;
  readonly lateMsP99: number;
  readonly lateMsMax: number;
  /** From the first resume to the last. */
  readonly seconds: number;
}

/** What the transition log says of such a run. */
export async function outcomeOfWaits(query: Query, dagRunId: number): Promise<WaitsOutcome> {
  const [outcome] = await query<WaitsOutcome>(
    `with resumed as materialized (
       select l.row_id, count(*) as times, min(l.at) as at, 
         min(extract(epoch from l.at - (ti.next_kwargs->'event'->'payload'->>'at')::timestamptz) * 1000)::float8 as late
       from task_instance ti join task_instance_transition l using (row_id)
       where ti.dag_run_id = $1 and l.from_state = 'deferred' group by l.row_id
     )
     select (select count(*)::int from task_instance where dag_run_id = $1 and state = 'deferred') as waiting,
       count(*)::int as resumed, (count(*) filter (where times > 1))::int as twice, (count(*) filter (where late < 0))::int as early,
       coalesce(percentile_cont(0.5) within group (order by late), 0) as "lateMsP50",
       coalesce(percentile_cont(0.99) within group (order by late), 0) as "lateMsP99",
       coalesce(max(late), 0) as "lateMsMax", coalesce(extract(epoch from max(at) - min(at)), 0)::float8 as seconds
     from resumed`,
    [dagRunId],
  );
  if (outcome === undefined) throw new Error("an aggregate gives a row");
  return outcome;
}
