import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { createLogger } from "../../observability/index.ts";
import {
  advanceChangeCursor,
  Database,
  getDag,
  getDagSpec,
  getPool,
  getRun,
  getSource,
  getXCom,
  listDags,
  listGridColumns,
  listImportErrors,
  listJobs,
  listPauseChanges,
  listPools,
  listRecentRuns,
  listRunChanges,
  listRuns,
  listTaskChanges,
  listTaskInstances,
  listTries,
  listVersions,
  listXComs,
  readChangeCursor,
  readHealth,
  setPaused,
} from "../index.ts";

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 3, maxRetries: 0, log });
afterAll(() => db.close());

const VERSION = "00000000-0000-7000-8000-00000000000a";

beforeEach(async () => {
  await database.reset();
  await db.read(`
insert into dag (dag_id, is_paused, is_stale, bundle_name, owners, max_active_tasks, max_active_runs)
  values ('etl', false, false, 'dags-folder', 'ada, bob', 16, 16), ('report', true, false, 'dags-folder', 'ada', 16, 16),
         ('gone', false, true, 'dags-folder', '', 16, 16)`);
  await db.read(`insert into dag_tag (dag_id, name) values ('etl', 'nightly'), ('etl', 'core'), ('report', 'core')`);
  await db.read(`insert into dag_artifact (hash, code, source_map) values ('h', '', '')`);
  await db.read(`insert into dag_version (id, dag_id, artifact_hash) values ('${VERSION}', 'etl', 'h')`);
  await db.read(`insert into serialized_dag (id, dag_id, data, dag_hash, dag_version_id)
    values (gen_random_uuid(), 'etl', '{"dagId": "etl", "schedule": {"kind": "cron", "cron": "0 0 * * *", "timezone": "UTC", "dst": {"gap": "shift", "fold": "first"}}, "startDate": "2026-01-01T00:00:00.000Z", "catchup": true, "tasks": []}', 'h', '${VERSION}')`);
  await db.read(`insert into dag_code (id, dag_id, fileloc, source_code, source_code_hash, dag_version_id)
    values (gen_random_uuid(), 'etl', '/dags/etl.ts', 'new Dag()', 'h', '${VERSION}')`);
  await db.read(`insert into dag_run (dag_id, run_id, run_type, state, logical_date, run_after, start_date, end_date, created_dag_version_id)
    select 'etl', 'run_' || i, 'manual', case when i = 3 then 'running' else 'success' end, ts, ts, ts,
      case when i = 3 then null else ts + interval '90 seconds' end, '${VERSION}'
    from generate_series(1, 3) i, lateral (select timestamptz '2026-01-01' + i * interval '1 day') t(ts)`);
  await db.read(`insert into task_instance (id, task_id, dag_id, run_id, dag_run_id, state, try_number, run_after, pool_slots, dag_version_id)
    select gen_random_uuid(), task, 'etl', r.run_id, r.id, t.state, t.try, r.run_after, 2, '${VERSION}'
    from dag_run r, (values ('a', 'success', 1), ('b', 'running', 2), ('c', null, 0)) as t(task, state, try)`);
});

describe("DAGs", () => {
  test("are found by pattern, pause, tag and owner, stale ones only when asked for", async () => {
    const ids = async (filter: Parameters<typeof listDags>[1]) =>
      (await listDags(db, filter)).items.map((dag) => dag.dagId);
    expect(await ids({})).toEqual(["etl", "report"]);
    expect(await ids({ excludeStale: false, orderBy: ["-dag_id"] })).toEqual(["report", "gone", "etl"]);
    expect(await ids({ dagIdPattern: "ET|nothing" })).toEqual(["etl"]);
    expect(await ids({ dagIdPattern: "~" })).toEqual(["etl", "report"]);
    expect(await ids({ paused: true })).toEqual(["report"]);
    expect(await ids({ tags: ["nightly", "core"] })).toEqual(["etl", "report"]);
    expect(await ids({ tags: ["nightly", "core"], tagsMatchMode: "all" })).toEqual(["etl"]);
    expect(await ids({ owners: ["bob"] })).toEqual(["etl"]);
    expect(await ids({ lastDagRunState: "running" })).toEqual(["etl"]);
    expect(await ids({ dagIdPattern: "'; drop table dag; --" })).toEqual([]);
  });

  test("come in pages that tell how many there are", async () => {
    const page = await listDags(db, { limit: 1, offset: 1 });
    expect([page.items.map((dag) => dag.dagId), page.totalEntries]).toEqual([["report"], 2]);
    expect(await listDags(db, { limit: 0 })).toEqual({ items: [], totalEntries: 2 });
  });

  test("carry tags, owners and their newest run", async () => {
    expect(await getDag(db, "etl")).toMatchObject({
      tags: ["core", "nightly"],
      owners: ["ada", "bob"],
      lastRunId: "run_3",
      lastRunState: "running",
    });
    expect((await listRecentRuns(db, ["etl", "report"], 2)).map((run) => run.runId)).toEqual(["run_3", "run_2"]);
    await expect(getDag(db, "nope")).rejects.toMatchObject({ code: "DAG_NOT_FOUND" });
  });

  test("are sorted only by keys that are known", async () => {
    await expect(listDags(db, { orderBy: ["dag_id; drop table dag"] })).rejects.toMatchObject({ httpStatus: 400 });
    await expect(listDags(db, { orderBy: ["constructor"] })).rejects.toMatchObject({ code: "ORDER_BY_INVALID" });
  });

  test("are paused and unpaused with a line in the audit log", async () => {
    await setPaused(db, "etl", true, "ada");
    expect(await getDag(db, "etl")).toMatchObject({ isPaused: true, nextDagrun: null });
    await setPaused(db, "etl", false, "ada");
    expect(await getDag(db, "etl")).toMatchObject({ isPaused: false, nextDagrun: new Date("2026-01-01T00:00:00Z") });
    const logged = await db.read(`select event, owner, dag_id from log order by id`);
    expect(logged).toEqual([
      { event: "pause_dag", owner: "ada", dag_id: "etl" },
      { event: "unpause_dag", owner: "ada", dag_id: "etl" },
    ]);
    await expect(setPaused(db, "nope", true, "ada")).rejects.toMatchObject({ code: "DAG_NOT_FOUND" });
  });

  test("have versions, a source and a spec", async () => {
    expect((await listVersions(db, "etl")).items).toMatchObject([{ id: VERSION, versionNumber: 1 }]);
    expect(await getSource(db, "etl")).toMatchObject({ sourceCode: "new Dag()", versionNumber: 1 });
    expect(await getDagSpec(db, "etl", 1)).toMatchObject({ dagId: "etl", catchup: true });
    await expect(getSource(db, "etl", 9)).rejects.toMatchObject({ code: "DAG_VERSION_NOT_FOUND" });
  });
});

describe("runs and task instances", () => {
  test("are read on by processes that run while a migration adds to their table", async () => {
    const one = new Database({ url: database.url, applicationName: "test", maxConnections: 2, maxRetries: 0, log });
    const before = await getRun(one, "etl", "run_1");
    await db.read("alter table dag_run add column later int");
    try {
      expect(await getRun(one, "etl", "run_1")).toEqual(before);
    } finally {
      await db.read("alter table dag_run drop column later");
      await one.close();
    }
  });

  test("are listed for one DAG or all, filtered and sorted", async () => {
    const runs = await listRuns(db, "~", { state: ["success"], orderBy: ["-run_after"], limit: 1 });
    expect(runs).toMatchObject({ totalEntries: 2, items: [{ runId: "run_2", duration: 90, versionNumber: 1 }] });
    const since = new Date("2026-01-03T00:00:00Z");
    expect((await listRuns(db, "etl", { runAfter: { gte: since } })).totalEntries).toBe(2);
    expect((await listRuns(db, "etl", { runType: ["scheduled"] })).totalEntries).toBe(0);
    expect((await getRun(db, "etl", "run_1")).state).toBe("success");
    await expect(getRun(db, "etl", "nope")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  });

  test("without a state are found as none", async () => {
    const states = async (state: string[]) =>
      (await listTaskInstances(db, "etl", "run_1", { state, orderBy: ["task_id"] })).items.map((ti) => ti.state);
    expect(await states(["none", "success"])).toEqual(["success", "none"]);
    expect(await states(["success"])).toEqual(["success"]);
    expect((await listTaskInstances(db, "~", "~", { mapIndex: [-1], taskId: "b" })).totalEntries).toBe(3);
  });

  test("have their earlier tries and the current one", async () => {
    await db.read(`insert into task_instance_history (task_instance_id, task_id, dag_id, run_id, try_number, epoch, state, pool)
      values (gen_random_uuid(), 'b', 'etl', 'run_1', 1, 3, 'failed', 'default_pool')`);
    const tries = await listTries(db, { dagId: "etl", runId: "run_1", taskId: "b" });
    expect(tries.map((ti) => [ti.tryNumber, ti.state])).toEqual([
      [1, "failed"],
      [2, "running"],
    ]);
    await expect(listTries(db, { dagId: "etl", runId: "run_1", taskId: "z" })).rejects.toMatchObject({
      code: "TASK_NOT_FOUND",
    });
  });

  test("leave XComs whose values stay as they are", async () => {
    await db.read(`insert into xcom (dag_run_id, task_id, key, dag_id, run_id, value)
      select id, 'a', 'return_value', 'etl', run_id, '{"snake_case": [1]}' from dag_run where run_id = 'run_1'`);
    const key = { dagId: "etl", runId: "run_1", taskId: "a" };
    expect((await listXComs(db, { dagId: "~", runId: "~", taskId: "~" })).totalEntries).toBe(1);
    expect((await getXCom(db, { ...key, key: "return_value" })).value).toEqual({ snake_case: [1] });
    await expect(getXCom(db, { ...key, key: "other" })).rejects.toMatchObject({ code: "XCOM_NOT_FOUND" });
    await expect(getXCom(db, { ...key, taskId: "z", key: "other" })).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
    await db.read(`insert into xcom (dag_run_id, task_id, map_index, key, dag_id, run_id, value)
      select dag_run_id, task_id, 0, 'return_value', dag_id, run_id, '1' from xcom`);
    await db.read(`update task_instance set map_index = 0 where task_id = 'a' and run_id = 'run_1'`);
    expect((await getXCom(db, { ...key, mapIndex: 0, key: "return_value" })).value).toBe(1);
    await db.read(`delete from xcom where map_index = -1`);
    await expect(getXCom(db, { ...key, key: "return_value" })).rejects.toThrow(
      "without a map index: it is mapped, and its indexes are 0 to 0",
    );
  });
});

describe("operations", () => {
  test("a pool says what its slots are doing", async () => {
    expect(await getPool(db, "default_pool")).toMatchObject({ runningSlots: 6, occupiedSlots: 6, openSlots: 122 });
    await db.read(`insert into slot_pool (pool, slots) values ('free', -1)`);
    expect((await listPools(db, { orderBy: ["-name"] })).items.map((p) => [p.pool, p.openSlots])).toEqual([
      ["free", -1],
      ["default_pool", 122],
    ]);
  });

  test("a process is alive while its heartbeat is fresh", async () => {
    await db.read(`insert into job (job_type, state, latest_heartbeat) values
      ('SchedulerJob', 'running', now()), ('SchedulerJob', 'running', now() - interval '5 minutes'), ('WorkerJob', 'success', now())`);
    const jobs = await listJobs(db, { aliveSeconds: 30 });
    expect(jobs.items.map((job) => job.isAlive)).toEqual([true, false, false]);
    expect((await listJobs(db, { aliveSeconds: 30, isAlive: false })).totalEntries).toBe(2);
    const health = await readHealth(db);
    expect(health.map((h) => h.jobType).sort()).toEqual(["SchedulerJob", "WorkerJob"]);
    expect(health.find((h) => h.jobType === "SchedulerJob")?.silentSeconds).toBeLessThan(5);
  });

  test("errors of files are listed", async () => {
    await db.read(
      `insert into import_error (filename, bundle_name, stacktrace) values ('bad.ts', 'dags-folder', 'boom')`,
    );
    expect((await listImportErrors(db, { filenamePattern: "bad" })).items).toMatchObject([{ filename: "bad.ts" }]);
  });
});

describe("a page that watches", () => {
  test("gets one cell a run and task, with the states of all its task instances", async () => {
    await db.read(`insert into task_instance (id, task_id, dag_id, run_id, dag_run_id, map_index, state, run_after)
      select gen_random_uuid(), 'm', 'etl', 'run_1', id, i, case when i < 3 then 'failed' else 'success' end, run_after
      from dag_run, generate_series(0, 9) i where run_id = 'run_1'`);
    const [column] = await listGridColumns(db, "etl", ["run_1"]);
    expect(column?.cells.toSorted()).toEqual([
      ["a", "success", 1],
      ["b", "running", 1],
      ["c", "none", 1],
      ["m", "failed", 3],
      ["m", "success", 7],
    ]);
  });

  test("sees runs, tasks and pauses that changed since its cursor", async () => {
    const cursor = await readChangeCursor(db);
    expect(await listRunChanges(db, cursor)).toEqual([]);
    await db.read(`update dag_run set state = 'failed' where run_id = 'run_3'`);
    await setPaused(db, "report", true, "ada");
    expect(await listRunChanges(db, cursor)).toMatchObject([{ change: "t1", runId: "run_3", state: "failed" }]);
    expect(await listPauseChanges(db, cursor)).toMatchObject([{ dagId: "report", isPaused: true }]);
    expect(await listTaskChanges(db, ["etl"], [])).toEqual([]);
    expect(await listTaskChanges(db, [], [{ dagId: "etl", runId: "run_3" }])).toHaveLength(3);
    // Within the look-back nothing is settled: a slower transaction may still show a smaller id.
    expect(await advanceChangeCursor(db, cursor)).toEqual(cursor);
  });
});
