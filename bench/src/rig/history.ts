// Finished runs in bulk, with all that the product would have left of them: the rows, and the log of their changes. It is
// written in the order of time, a run of each DAG an hour, the newest an hour ago; one run in a hundred failed.
import type { Database } from "@millrace/shared/db";
import pg from "pg";

const TASKS = 30;

/** As if they had had thirty tasks and run for weeks: so many runs of each of the DAGs whose ids the pattern finds. */
export async function loadHistory(db: Database, dags: RegExp, runs: number): Promise<{ tasks: number; ms: number }> {
  const begun = performance.now();
  const client = new pg.Client(db.url);
  await client.connect();
  try {
    // Only rows that fit each other are written: foreign keys need not be looked up for each of millions.
    await client.query("set session_replication_role = replica");
    await client.query(
      `insert into dag_run (dag_id, run_id, run_type, state, logical_date, data_interval_start, data_interval_end, run_after,
         queued_at, start_date, end_date, last_scheduling_decision, created_at, updated_at, triggered_by, created_dag_version_id)
       select v.dag_id, 'scheduled__' || to_char(at at time zone 'utc', 'YYYY-MM-DD"T"HH24:MI:SS"Z"'), 'scheduled',
         case when n % 100 = 50 then 'failed' else 'success' end, at - interval '1 h', at - interval '1 h', at, at,
         at, at, at + interval '10 s', at, at, at + interval '10 s', 'TIMETABLE', v.id
       from generate_series($2::int, 1, -1) n
       cross join lateral (select date_trunc('hour', now()) - make_interval(hours => n) as at) a
       join dag_version v on v.dag_id ~ $1
       order by n desc, v.dag_id`,
      [dags.source, runs],
    );
    await client.query(
      `insert into dag_run_transition (dag_run_id, from_state, to_state, actor, at)
       select r.id, l.from_state, coalesce(l.to_state, r.state), 'millrace scheduler 1', r.start_date + make_interval(secs => l.seconds)
       from dag_run r cross join (values ('queued', 'running', 0), ('running', null, 10)) as l(from_state, to_state, seconds)
       where r.run_type = 'scheduled' order by r.id, l.seconds`,
    );
    // Ids begin with their time, as those of the product do.
    await client.query(
      `insert into task_instance (id, task_id, dag_id, run_id, dag_run_id, state, epoch, try_number, max_tries, logical_date,
         run_after, start_date, end_date, duration, hostname, unixname, pid, operator, task_display_name, scheduled_dttm,
         queued_dttm, queued_by_job_id, worker_job_id, start_token, latest_heartbeat, updated_at, dag_version_id)
       select (lpad(to_hex((extract(epoch from r.run_after) * 1000)::bigint), 12, '0') || '7' || substr(noise, 1, 3) || '8' ||
           substr(noise, 4, 15))::uuid,
         't' || t, r.dag_id, r.run_id, r.id, case when r.state = 'failed' and t = $1 - 1 then 'failed' else 'success' end, 4, 1, 0,
         r.logical_date, r.run_after, at, at + interval '0.2 s', 0.2, 'worker-1', 'millrace', 4711, 'ts', 't' || t, at, at, 1, 2,
         gen_random_uuid(), at, at + interval '0.2 s', r.created_dag_version_id
       from dag_run r cross join generate_series(0, $1::int - 1) t
       cross join lateral (select r.start_date + make_interval(secs => t * 0.3) as at, md5(random()::text || t) as noise) a
       where r.run_type = 'scheduled' order by r.id, t`,
      [TASKS],
    );
    await client.query(
      `insert into task_instance_transition (row_id, epoch, ti_id, from_state, to_state, try_number, actor, at)
       select ti.row_id, l.epoch, ti.id, l.from_state, coalesce(l.to_state, ti.state), 1, 'millrace scheduler 1', ti.start_date
       from task_instance ti join dag_run r on r.id = ti.dag_run_id and r.run_type = 'scheduled'
       cross join (values (1, null, 'scheduled'), (2, 'scheduled', 'queued'), (3, 'queued', 'running'), (4, 'running', null))
         as l(epoch, from_state, to_state)
       order by ti.row_id, l.epoch`,
    );
    // As autovacuum would have left them long ago; it shall not do so during the measurement.
    for (const table of ["dag_run", "dag_run_transition", "task_instance", "task_instance_transition"]) {
      await client.query(`vacuum (analyze) ${table}`);
    }
    await client.query("checkpoint");
    const counted = await client.query<{ n: number }>("select count(*)::int as n from task_instance");
    return { tasks: counted.rows[0]?.n ?? 0, ms: performance.now() - begun };
  } finally {
    await client.end();
  }
}
