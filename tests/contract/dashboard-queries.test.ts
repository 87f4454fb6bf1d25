// What operators ask of Airflow's database today: the same tables, columns and views answer here.
import { Database } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeAll, describe, expect, test } from "vitest";

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "dashboard", maxConnections: 3, maxRetries: 0, log });
afterAll(() => db.close());

beforeAll(async () => {
  await db.read(`insert into dag (dag_id, is_paused, bundle_name, max_active_tasks, max_active_runs)
    values ('etl', false, 'dags-folder', 16, 16), ('report', false, 'dags-folder', 16, 16)`);
  await db.read(`insert into dag_run (dag_id, run_id, run_type, state, run_after, queued_at, start_date, data_interval_start, data_interval_end) values
    ('etl', 'scheduled__1', 'scheduled', 'running', now(), now() - interval '1 hour', now() - interval '30 minutes', now() - interval '2 days', now() - interval '1 day'),
    ('etl', 'manual__1', 'manual', 'queued', now(), now() - interval '20 minutes', null, null, null),
    ('etl', 'manual__2', 'manual', 'queued', now(), now(), null, null, null),
    ('etl', 'scheduled__0', 'scheduled', 'success', now(), now() - interval '1 day', now() - interval '1 day', null, null)`);
  await db.read(
    `insert into trigger (classpath, kwargs, created_date) values ('sensors.TimeTrigger', '{}', now() - interval '5 minutes')`,
  );
  await db.read(`insert into task_instance (id, dag_run_id, dag_id, run_id, run_after, task_id, state, latest_heartbeat, scheduled_dttm, priority_weight, try_number, trigger_id)
    select gen_random_uuid(), r.id, r.dag_id, r.run_id, r.run_after, t.task_id, t.state, now() - t.gap, now() - t.gap, t.weight, t.try, t.trigger_id
    from dag_run r join (values
      ('scheduled__1', 'extract', 'success', interval '1 hour', 1, 3, null::int),
      ('scheduled__1', 'load', 'running', interval '90 seconds', 1, 1, null),
      ('scheduled__1', 'wait', 'deferred', interval '5 minutes', 1, 1, 1),
      ('scheduled__1', 'low', 'scheduled', interval '10 minutes', 1, 1, null),
      ('scheduled__1', 'high', 'scheduled', interval '1 minute', 9, 1, null),
      ('scheduled__1', 'later', null, null, 1, 0, null),
      ('scheduled__0', 'extract', 'failed', interval '1 day', 1, 2, null)
    ) t(run_id, task_id, state, gap, weight, try, trigger_id) on t.run_id = r.run_id`);
  await db.read(`insert into asset (name, uri) select 'a' || i, 's3://bucket/' || i from generate_series(1, 120) i`);
  await db.read(`insert into asset_dag_run_queue (asset_id, target_dag_id) select id, 'report' from asset`);
});

const column = async <T>(sql: string, name: string): Promise<T[]> =>
  (await db.read<Record<string, T>>(sql)).map((row) => row[name] as T);

describe("the queries that operators have", () => {
  test("show the runs that are active, with their interval and how long they have been at it", async () => {
    const rows =
      await db.read(`select dag_id, run_id, state, run_type, data_interval_start, data_interval_end, queued_at, start_date,
      extract(epoch from now() - start_date)::int / 60 as minutes from dag_run where state in ('queued', 'running') order by queued_at`);
    expect(rows).toMatchObject([
      { run_id: "scheduled__1", state: "running", run_type: "scheduled", minutes: 30 },
      { run_id: "manual__1", state: "queued", minutes: null },
      { run_id: "manual__2" },
    ]);
  });

  test("find runs that have been queued for too long", async () => {
    expect(
      await column(
        "select run_id from dag_run where state = 'queued' and now() - queued_at > interval '5 minutes'",
        "run_id",
      ),
    ).toEqual(["manual__1"]);
  });

  test("count what waits for a DAG in Airflow 2's queue of datasets", async () => {
    const sql = "select target_dag_id, count(*)::int as n from dataset_dag_run_queue group by 1 having count(*) > 100";
    expect(await db.read(sql)).toEqual([{ target_dag_id: "report", n: 120 }]);
    expect(
      await column(
        "select count(*)::int as n from dataset_dag_run_queue q join dataset d on d.id = q.dataset_id where d.uri like 's3://%'",
        "n",
      ),
    ).toEqual([120]);
  });

  test("count the task instances that keep a run open", async () => {
    const sql = `select r.run_id, count(*) filter (where t.state not in ('success', 'failed', 'skipped', 'upstream_failed', 'removed'))::int as open
      from dag_run r join task_instance t using (dag_id, run_id) where r.state = 'running' group by 1`;
    expect(await db.read(sql)).toEqual([{ run_id: "scheduled__1", open: 4 }]);
  });

  test("show how long running task instances have been silent", async () => {
    const sql = `select task_id, extract(epoch from now() - latest_heartbeat)::int as gap from task_instance
      where dag_id = 'etl' and run_id = 'scheduled__1' and state = 'running'`;
    expect(await db.read(sql)).toEqual([{ task_id: "load", gap: expect.closeTo(90, -1) as number }]);
  });

  test("spread states over DAGs, and find what is stuck in scheduled", async () => {
    const states = await db.read(
      `select dag_id, state, count(*)::int as n from task_instance where run_id like 'scheduled%' group by 1, 2 order by n desc, state limit 1`,
    );
    expect(states).toEqual([{ dag_id: "etl", state: "scheduled", n: 2 }]);
    expect(
      await column(
        "select task_id from task_instance where state = 'scheduled' and scheduled_dttm < now() - interval '5 minutes'",
        "task_id",
      ),
    ).toEqual(["low"]);
  });

  test("tell tasks that needed more than one try, and which recovered", async () => {
    const sql = `select task_id, max(try_number) as tries, count(*) filter (where state = 'failed')::int as failed,
      count(*) filter (where state = 'success' and try_number > 1)::int as recovered from task_instance group by 1 having max(try_number) > 1`;
    expect(await db.read(sql)).toEqual([{ task_id: "extract", tries: 3, failed: 1, recovered: 1 }]);
  });

  test("join deferred task instances with the triggers that they wait for", async () => {
    const sql = `select g.id, g.classpath, extract(epoch from now() - g.created_date)::int / 60 as age, t.task_id, t.state
      from trigger g join task_instance t on t.trigger_id = g.id`;
    expect(await db.read(sql)).toEqual([
      { id: 1, classpath: "sensors.TimeTrigger", age: 5, task_id: "wait", state: "deferred" },
    ]);
  });

  test("write an event of a dataset by hand, by Airflow 2's names", async () => {
    await db.read(
      `insert into dataset_event (dataset_id, source_task_id, source_dag_id, timestamp) values (7, 'extract', 'etl', now())`,
    );
    expect(await db.read("select asset_id, source_task_id, source_dag_id, extra from asset_event")).toEqual([
      { asset_id: 7, source_task_id: "extract", source_dag_id: "etl", extra: {} },
    ]);
  });

  test("take what is scheduled by priority, passing by what another session holds", async () => {
    const sql = `select task_id from task_instance where state = 'scheduled' order by priority_weight desc, logical_date limit 32 for update skip locked`;
    expect(await column(sql, "task_id")).toEqual(["high", "low"]);
    const holder = await db.dedicated();
    try {
      await holder.query("begin");
      await holder.query("select from task_instance where task_id = 'high' for update");
      expect(await column(sql, "task_id")).toEqual(["low"]);
    } finally {
      await holder.query("rollback");
      await holder.end();
    }
  });
});
