import { beforeEach, describe, expect, test } from "vitest";
import { seedDag, seedRun } from "../fixtures/seed.ts";
import { testApi } from "../fixtures/test-api.ts";
import type { DagRun, DagRunCollection, Grid } from "../types/index.ts";

const { db, database, wakes, call, get } = await testApi();
const RUNS = "/api/v2/dags/etl/dagRuns";

beforeEach(async () => {
  await database.reset();
  wakes.length = 0;
  await seedDag(db, "etl");
});

const trigger = async (payload: object, headers: Record<string, string> = {}) =>
  await call("POST", RUNS, { payload, headers });
const countRuns = async () => (await db.read<{ n: number }>("select count(*) as n from dag_run"))[0]?.n;

describe("the runs of a DAG", () => {
  test("are listed, filtered and sorted; ~ is every DAG", async () => {
    await seedDag(db, "report");
    for (const run of ["one", "two"]) await seedRun(db, "etl", run);
    await seedRun(db, "report", "three");
    const ids = async (url: string) => (await get(url)).json<DagRunCollection>().dag_runs.map((run) => run.dag_run_id);
    expect(await ids(RUNS)).toEqual(["one", "two"]);
    expect(await ids(`${RUNS}?order_by=-run_after&limit=1`)).toEqual(["two"]);
    expect(await ids(`${RUNS}?state=success&state=queued`)).toEqual([]);
    expect(await ids(`${RUNS}?run_type=scheduled&run_after_gte=2026-01-02T00:00:00Z`)).toEqual(["two"]);
    expect(await ids("/api/v2/dags/~/dagRuns?state=running")).toEqual(["one", "two", "three"]);
    expect((await get(`${RUNS}/one`)).json()).toMatchObject({
      dag_run_id: "one",
      dag_versions: [{ version_number: 1 }],
    });
  });

  test("that are not there are 404, and bad filters 422 or 400", async () => {
    expect((await get("/api/v2/dags/nope/dagRuns")).statusCode).toBe(404);
    expect((await get(`${RUNS}/nope`)).statusCode).toBe(404);
    expect((await get(`${RUNS}?run_after_gte=yesterday`)).statusCode).toBe(422);
    expect((await get(`${RUNS}?run_after_gte=2026-01-01T00:00:00`)).statusCode).toBe(422);
    expect((await get(`${RUNS}?order_by=x`)).statusCode).toBe(400);
  });

  test("form a grid with their tasks", async () => {
    await seedRun(db, "etl", "one");
    const grid = (await get("/ui/dags/etl/grid")).json<Grid>();
    expect(grid.nodes.map((node) => [node.task_id, node.upstream])).toEqual([
      ["extract", []],
      ["load", ["extract"]],
    ]);
    expect(grid.runs[0]?.states).toEqual(["success", "running"]);
    await db.read(`insert into task_instance (id, task_id, dag_id, run_id, dag_run_id, map_index, state, run_after)
      select gen_random_uuid(), 'load', 'etl', 'one', id, i, 'failed', run_after from dag_run, generate_series(0, 2) i`);
    expect((await get("/ui/dags/etl/grid")).json<Grid>().runs[0]?.states[1]).toEqual({ running: 1, failed: 3 });
    expect((await get("/ui/dags/nope/grid")).statusCode).toBe(404);
    expect((await get("/ui/dags/etl/grid?limit=0")).statusCode).toBe(422);
  });
});

describe("a trigger", () => {
  test("creates a queued run with its tasks, wakes the schedulers and is written down", async () => {
    const answer = await trigger({ conf: { day: 1 }, logical_date: null });
    expect(answer.statusCode).toBe(200);
    const run = answer.json<DagRun>();
    expect(run).toMatchObject({
      state: "queued",
      run_type: "manual",
      conf: { day: 1 },
      logical_date: null,
      triggered_by: "rest_api",
      triggering_user_name: "admin",
    });
    expect(run.dag_run_id).toMatch(/^manual__/);
    expect(wakes).toHaveLength(1);
    const tasks = await get(`${RUNS}/${encodeURIComponent(run.dag_run_id)}/taskInstances`);
    expect(tasks.json()).toMatchObject({ total_entries: 2 });
    expect(await db.read("select event, dag_id, run_id, owner from log")).toEqual([
      { event: "trigger_dag_run", dag_id: "etl", run_id: run.dag_run_id, owner: "admin" },
    ]);
  });

  test("takes an id, dates and an interval", async () => {
    const payload = {
      dag_run_id: "mine",
      logical_date: "2026-03-01T00:00:00+01:00",
      data_interval_start: "2026-02-28T00:00:00Z",
      data_interval_end: "2026-03-01T00:00:00Z",
    };
    expect((await trigger(payload)).json()).toMatchObject({
      dag_run_id: "mine",
      logical_date: "2026-02-28T23:00:00.000Z",
      data_interval_start: "2026-02-28T00:00:00.000Z",
    });
    expect((await trigger(payload)).statusCode).toBe(409);
  });

  test("sent twice with one key makes one run", async () => {
    const key = { "idempotency-key": "order 17" };
    const answers = await Promise.all([trigger({ conf: { a: 1 } }, key), trigger({ conf: { a: 1 } }, key)]);
    expect(answers.map((answer) => answer.statusCode)).toEqual([200, 200]);
    const ids = new Set(answers.map((answer) => answer.json<DagRun>().dag_run_id));
    expect(ids.size).toBe(1);
    expect(await countRuns()).toBe(1);
    expect((await trigger({ conf: { a: 2 } }, key)).statusCode).toBe(409);
    expect((await trigger({ conf: { a: 1 } }, { "idempotency-key": "order 18" })).statusCode).toBe(200);
    expect(await db.read("select from log")).toHaveLength(2);
  });

  test("is not there without its row in the audit log", async () => {
    await db.read("alter table log add constraint nothing_is_noted check (event <> 'trigger_dag_run')");
    try {
      expect((await trigger({}, { "idempotency-key": "order 19" })).statusCode).toBe(500);
      expect(await countRuns()).toBe(0);
    } finally {
      await db.read("alter table log drop constraint nothing_is_noted");
    }
  });

  test.each([
    { conf: [1] },
    { conf: "x" },
    { logical_date: "today" },
    { logical_date: "2026-01-01T00:00:00" },
    { dag_run_id: "../x" },
    { dag_run_id: "scheduled__2026" },
    { dag_run_id: "" },
    { data_interval_start: "2026-01-01T00:00:00Z" },
    { data_interval_start: "2026-01-02T00:00:00Z", data_interval_end: "2026-01-01T00:00:00Z" },
    { state: "success" },
    { conf: { zero: "\u0000" } },
  ])("is refused with %j", async (payload) => {
    expect((await trigger(payload)).statusCode).toBe(422);
    expect(await countRuns()).toBe(0);
    expect(wakes).toEqual([]);
  });

  test("of a DAG that cannot run says why", async () => {
    expect((await call("POST", "/api/v2/dags/nope/dagRuns", { payload: {} })).statusCode).toBe(404);
    await db.read("update dag set has_import_errors = true");
    expect((await trigger({})).statusCode).toBe(400);
    await db.read("update dag set is_stale = true");
    expect((await trigger({})).statusCode).toBe(404);
  });

  test("with a body of more than a megabyte is refused unread", async () => {
    expect((await trigger({ conf: { a: "x".repeat(1024 * 1024) } })).statusCode).toBe(413);
  });
});
