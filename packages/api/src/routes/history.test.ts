// Explain, clear, mark and delete over HTTP: Airflow's shapes and defaults, one row in the audit log, and the processes told.
import { beforeEach, describe, expect, test } from "vitest";
import { seedDag, seedRun } from "../fixtures/seed.ts";
import { testApi } from "../fixtures/test-api.ts";
import type { DagRun, Dependencies, RunExplanation, TaskInstanceCollection } from "../types/index.ts";

const { db, database, wakes, signals, call, get } = await testApi();
const RUN = "/api/v2/dags/etl/dagRuns/one";
const CLEAR = "/api/v2/dags/etl/clearTaskInstances";

beforeEach(async () => {
  await database.reset();
  await seedDag(db, "etl");
  await seedRun(db, "etl", "one");
  wakes.length = signals.length = 0;
});

const post = async (url: string, payload: object) => await call("POST", url, { payload });
const patch = async (url: string, payload: object) => await call("PATCH", url, { payload });
const states = async () =>
  Object.fromEntries(
    (
      await db.read<{ task_id: string; state: string }>(
        "select task_id, coalesce(state, 'none') as state from task_instance where run_id = 'one'",
      )
    ).map((row) => [row.task_id, row.state]),
  );
const events = async () => (await db.read<{ event: string }>("select event from log")).map((row) => row.event);
const idsIn = (answer: { json: <T>() => T }) =>
  answer.json<TaskInstanceCollection>().task_instances.map((ti) => ti.task_id);
const end = async (load = "failed") => {
  await db.read("update task_instance set state = $1, epoch = epoch + 1 where task_id = 'load'", [load]);
  await db.read("update dag_run set state = $1", [load === "failed" ? "failed" : "success"]);
};

describe("a clear", () => {
  test("of a DAG is a dry run of what failed unless it says otherwise", async () => {
    await end();
    const answer = await post(CLEAR, { dag_run_id: "one" });
    expect([answer.statusCode, idsIn(answer)]).toEqual([200, ["load"]]);
    expect(answer.json()).toMatchObject({ total_entries: 1, task_instances: [{ state: "failed", dag_run_id: "one" }] });
    expect([await states(), await events(), wakes]).toEqual([{ extract: "success", load: "failed" }, [], []]);
  });

  test("that is meant clears, queues the run, wakes the schedulers and is written down once", async () => {
    await end();
    const answer = await post(CLEAR, { dag_run_id: "one", dry_run: false });
    expect(answer.json()).toMatchObject({ task_instances: [{ task_id: "load", state: null, max_tries: 3 }] });
    expect((await get(RUN)).json<DagRun>()).toMatchObject({ state: "queued", start_date: null });
    expect(wakes).toEqual([
      { dagRunId: expect.any(Number) as number, taskIds: null },
      { dagRunId: null, taskIds: null },
    ]);
    expect(await events()).toEqual(["clear"]);
  });

  test("of what runs signals its worker, or is refused when running tasks are to be left alone", async () => {
    const given = { dag_run_id: "one", dry_run: false, only_failed: false, task_ids: ["load"] };
    expect((await post(CLEAR, { ...given, prevent_running_task: true })).statusCode).toBe(409);
    expect(await states()).toMatchObject({ load: "running" });
    await post(CLEAR, given);
    expect(await states()).toEqual({ extract: "success", load: "restarting" });
    expect(signals).toHaveLength(1);
  });

  test("takes what is up- and downstream, pairs with a map index, and dates instead of a run", async () => {
    const all = { only_failed: false };
    expect(idsIn(await post(CLEAR, { ...all, task_ids: ["load"], include_upstream: true }))).toEqual([
      "extract",
      "load",
    ]);
    expect(idsIn(await post(CLEAR, { ...all, task_ids: ["extract"], include_downstream: true }))).toEqual([
      "extract",
      "load",
    ]);
    expect(idsIn(await post(CLEAR, { ...all, task_ids: [["load", -1]] }))).toEqual(["load"]);
    expect(idsIn(await post(CLEAR, { ...all, task_ids: [["load", 4]] }))).toEqual([]);
    expect(idsIn(await post(CLEAR, { ...all, start_date: "2030-01-01T00:00:00Z" }))).toEqual([]);
    expect(idsIn(await post(CLEAR, { ...all, end_date: "2030-01-01T00:00:00Z" }))).toHaveLength(2);
    expect(idsIn(await post(CLEAR, { ...all, only_running: true }))).toEqual(["load"]);
  });

  test.each([
    [{ dag_run_id: "nope" }, 404],
    [{ task_ids: ["nope"] }, 404],
    [{ dag_run_id: "one", start_date: "2026-01-01T00:00:00Z" }, 422],
    [{ include_past: true }, 422],
    [{ unknown: 1 }, 422],
    [{ dry_run: "yes" }, 422],
  ])("%j is answered with %i", async (payload, status) => {
    expect((await post(CLEAR, payload)).statusCode).toBe(status);
  });

  test("of a run gives its tasks, and when it is meant the run", async () => {
    await end();
    expect(idsIn(await post(`${RUN}/clear`, {}))).toEqual(["extract", "load"]);
    expect(idsIn(await post(`${RUN}/clear`, { only_failed: true }))).toEqual(["load"]);
    expect((await post(`${RUN}/clear`, { dry_run: false })).json()).toMatchObject({ state: "queued" });
    expect(await states()).toEqual({ extract: "none", load: "none" });
  });
});

describe("a mark", () => {
  test("of a task stops what runs and says what it touched", async () => {
    const url = `${RUN}/taskInstances/load`;
    expect(idsIn(await patch(`${url}/dry_run`, { new_state: "failed" }))).toEqual(["load"]);
    expect([await states(), signals]).toEqual([{ extract: "success", load: "running" }, []]);
    const answer = await patch(url, { new_state: "failed" });
    expect(answer.json()).toMatchObject({ task_instances: [{ task_id: "load", state: "shutdown" }] });
    expect(signals).toHaveLength(1);
    expect(await events()).toEqual(["mark failed"]);
  });

  test("of one instance, and of its upstream", async () => {
    expect(idsIn(await patch(`${RUN}/taskInstances/load/7/dry_run`, { new_state: "failed" }))).toEqual([]);
    expect(idsIn(await patch(`${RUN}/taskInstances/load/-1`, { new_state: "success" }))).toEqual(["load"]);
    const up = { new_state: "skipped", include_upstream: true };
    expect(idsIn(await patch(`${RUN}/taskInstances/load/dry_run`, up))).toEqual(["extract", "load"]);
  });

  test.each([
    ["taskInstances/load", { new_state: "running" }, 422],
    ["taskInstances/nope", { new_state: "failed" }, 404],
    ["taskInstances/load", {}, 422],
    ["", { state: "running" }, 422],
  ])("%s %j is answered with %i", async (path, payload, status) => {
    expect((await patch(path === "" ? RUN : `${RUN}/${path}`, payload)).statusCode).toBe(status);
  });

  test("of a run ends it with its tasks", async () => {
    expect((await patch(RUN, { state: "failed" })).json()).toMatchObject({ state: "failed" });
    expect(await states()).toEqual({ extract: "success", load: "shutdown" });
    expect([signals.length, await events()]).toEqual([1, ["mark run failed"]]);
    expect((await patch(RUN, { state: "queued" })).json()).toMatchObject({ state: "queued" });
  });
});

test("a run is deleted when it does not run", async () => {
  expect((await call("DELETE", RUN)).statusCode).toBe(409);
  await end();
  expect((await call("DELETE", RUN)).statusCode).toBe(204);
  expect((await get(RUN)).statusCode).toBe(404);
  expect((await call("DELETE", RUN)).statusCode).toBe(404);
  expect(await events()).toEqual(["delete run"]);
});

describe("what a task waits for", () => {
  test("has Airflow's shape and our details", async () => {
    await end();
    await db.read("update dag_run set state = 'queued'");
    await db.read("update dag_run set state = 'running'");
    await db.read("update task_instance set state = null, epoch = epoch + 1");
    const found = (await get(`${RUN}/taskInstances/load/dependencies`)).json<Dependencies>();
    expect(found).toMatchObject({
      dependencies: [
        { name: "No Live Scheduler", reason: "no scheduler lives" },
        { name: "Trigger Rule", reason: "trigger rule all_success: extract is none" },
      ],
      explanation: {
        task_id: "load",
        state: null,
        earliest: null,
        conditions: [{ kind: "no_live_scheduler" }, { kind: "trigger_rule", rule: "all_success" }],
        holders: [],
      },
    });
    expect((await get(`${RUN}/taskInstances/load/-1/dependencies`)).json()).toEqual(found);
    expect((await get(`${RUN}/taskInstances/load/3/dependencies`)).statusCode).toBe(404);
    expect((await get(`${RUN}/taskInstances/nope/dependencies`)).statusCode).toBe(404);
  });

  test("is nothing for one that runs, and its run tells what is under way", async () => {
    const found = (await get(`${RUN}/taskInstances/load/dependencies`)).json<Dependencies>();
    expect([found.dependencies, found.explanation.conditions[0]]).toMatchObject([[], { kind: "running" }]);
    expect((await get(`${RUN}/explain`)).json<RunExplanation>()).toMatchObject({
      dag_run_id: "one",
      state: "running",
      conditions: [{ kind: "run_running", tasks: { success: 1, running: 1 } }, { kind: "no_live_scheduler" }],
      tasks: [{ task_id: "load", state: "running" }],
    });
    expect((await get("/api/v2/dags/etl/dagRuns/nope/explain")).statusCode).toBe(404);
  });
});

test("the callbacks of a run and of its tasks are listed with what became of them", async () => {
  await db.read(`insert into callback (kind, dag_run_id, ti_id, task_id, try_number, state, output, attempts, created_at)
    select 'onFailure', r.id, gen_random_uuid(), 'load', 1, 'failed', 'Error: no such channel', 2, '2026-01-01' from dag_run r limit 1`);
  await db.read(
    `insert into callback (kind, dag_run_id, created_at) select 'dagOnFailure', id, '2026-01-02' from dag_run limit 1`,
  );
  const [run] = await db.read<{ dag_id: string; run_id: string }>("select dag_id, run_id from dag_run limit 1");
  const base = `/api/v2/dags/${run?.dag_id}/dagRuns/${run?.run_id}/callbacks`;
  expect((await get(base)).json()).toMatchObject({
    callbacks: [
      {
        kind: "onFailure",
        task_id: "load",
        map_index: -1,
        try_number: 1,
        state: "failed",
        attempts: 2,
        output: "Error: no such channel",
      },
      { kind: "dagOnFailure", task_id: null, state: "pending", output: null },
    ],
    total_entries: 2,
  });
  expect((await get(`${base}?state=pending`)).json()).toMatchObject({ total_entries: 1 });
  expect((await get(`${base}?task_id=load`)).json()).toMatchObject({ total_entries: 1 });
  expect((await get("/api/v2/dags/etl/dagRuns/nope/callbacks")).statusCode).toBe(404);
});

describe("a note of a run", () => {
  const noteOf = async () => (await get(RUN)).json<DagRun>().note;

  test("is set, changed and taken away, with or without a state, and written down", async () => {
    expect((await patch(RUN, { note: "asked Ada" })).json()).toMatchObject({ note: "asked Ada", state: "running" });
    expect((await patch(RUN, { note: "again" })).json()).toMatchObject({ note: "again" });
    expect(await db.read("select user_id from dag_run_note")).toEqual([{ user_id: "admin" }]);
    expect((await patch(RUN, { note: "given up", state: "failed" })).json()).toMatchObject({ note: "given up" });
    expect(await events()).toEqual(["note run", "note run", "mark run failed", "note run"]);
    await patch(RUN, { note: null });
    expect(await noteOf()).toBeNull();
  });

  test("is refused when it is too long or cannot be stored, as is a change of nothing", async () => {
    expect((await patch(RUN, { note: "x".repeat(1_001) })).statusCode).toBe(422);
    expect((await patch(RUN, { note: "a\0b" })).statusCode).toBe(422);
    expect((await patch(RUN, {})).statusCode).toBe(422);
    expect((await patch("/api/v2/dags/etl/dagRuns/nope", { note: "x" })).statusCode).toBe(404);
    expect([await noteOf(), await events()]).toEqual([null, []]);
  });
});
