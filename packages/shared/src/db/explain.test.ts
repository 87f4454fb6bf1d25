import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { loadConfig } from "../config/index.ts";
import { describeCondition, isFinished, TASK_STATES } from "../model/index.ts";
import { openDatabase, seedDag, seedRun, seedTask, type SeededDag } from "./fixtures/seed.ts";
import { DagVersions, deferAttempts, explainRun, explainTask } from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url);
afterAll(() => db.close());

const versions = new DagVersions(db);
const config = loadConfig({ env: {}, cwd: "/nonexistent", overrides: { "core.parallelism": 6 } });
const task = (runId: string, taskId: string, mapIndex?: number) =>
  explainTask(db, versions, config, "dag", runId, taskId, mapIndex);
const run = (runId: string) => explainRun(db, versions, config, "dag", runId);
const kinds = (found: { conditions: readonly { kind: string }[] }) => found.conditions.map(({ kind }) => kind);

const live = async (type: string, queues: string[] | null = null, concurrency: number | null = null) => {
  await db.read(`insert into job (job_type, state, queues, concurrency) values ($1, 'running', $2, $3)`, [
    type,
    queues,
    concurrency,
  ]);
};

let dag: SeededDag;
beforeEach(async () => {
  await database.reset();
  dag = await seedDag(db, "dag", { a: {}, b: { upstream: ["a"], dependsOnPast: true } }, { maxActiveRuns: 1 });
  await live("SchedulerJob");
});

describe("a deferred task", () => {
  const defer = async (trigger: string, kwargs: object, queue: string | null = null, columns = {}) => {
    const id = await seedTask(db, await seedRun(db, dag, "parent"), "a", { state: "running", ...columns });
    const wait = [["resume"], ["null"], [null], [null]] as const;
    await db.run(deferAttempts, [[id], [5], [trigger], [JSON.stringify(kwargs)], [queue], ...wait]);
  };
  const texts = async () => (await task("parent", "a")).conditions.map(describeCondition);

  test("says that no triggerer lives that would end its wait", async () => {
    await defer("millrace.time", {}, "slow");
    await live("TriggererJob");
    expect(await texts()).toEqual([
      "it waits for its trigger millrace.time",
      "no triggerer lives that takes from queue slow",
    ]);
    await live("TriggererJob", ["slow"]);
    expect(await texts()).toEqual(["it waits for its trigger millrace.time"]);
  });

  test("names the run that it waits for", async () => {
    await live("TriggererJob", []);
    await defer("millrace.external_states", { dagId: "dag", runIds: ["child"] });
    expect(await texts()).toEqual(["it waits for its trigger millrace.external_states"]);
    await seedRun(db, dag, "child", { state: "running" });
    expect((await texts())[1]).toBe("run child of dag, which it waits for, is running");
  });

  test("that waits for itself is told so: its run has the place, or it has the slots, that the other needs", async () => {
    await live("TriggererJob", []);
    await defer("millrace.external_states", { dagId: "dag", runIds: ["child"] }, null, { pool: "p" });
    const child = await seedRun(db, dag, "child", { state: "queued" });
    expect((await texts())[2]).toBe(
      "it waits for itself: run child of dag cannot go on before this task has ended, because of maxActiveRuns of dag",
    );
    await db.read("update dag set max_active_runs = 2");
    expect(await texts()).toHaveLength(2);
    await db.read("insert into slot_pool (pool, slots, include_deferred) values ('p', 1, true)");
    await seedTask(db, child, "a", { state: "scheduled", pool: "p" });
    expect((await texts())[2]).toMatch(/^it waits for itself: .* because of pool p$/);
    await db.read("update slot_pool set include_deferred = false");
    expect(await texts()).toHaveLength(2);
  });

  test("that asks people needs none", async () => {
    const id = await seedTask(db, await seedRun(db, dag, "parent"), "a", { state: "running" });
    const question = JSON.stringify({
      subject: "Ship it?",
      options: ["yes"],
      multiple: false,
      params: {},
      assignedUsers: [],
    });
    await db.run(deferAttempts, [
      [id],
      [5],
      ["millrace.hitl"],
      ["{}"],
      [null],
      ["resume"],
      ["null"],
      [null],
      [question],
    ]);
    expect(await texts()).toEqual(['it waits for an answer to "Ship it?": see `millrace hitl list`']);
  });
});

describe("a queued run", () => {
  test("names the runs that hold its places and counts the queued ones before it", async () => {
    for (const [runId, state, day] of [
      ["running", "running", 1],
      ["older", "queued", 2],
      ["mine", "queued", 3],
    ] as const) {
      const id = await seedRun(db, dag, runId, { state, runAfter: new Date(Date.UTC(2026, 0, day)) });
      await seedTask(db, id, "a");
    }
    const found = await run("mine");
    expect(found).toMatchObject({ state: "queued", earliest: null, holders: [] });
    expect(found.conditions).toEqual([{ kind: "run_queued_behind", of: 1, running: ["running"], ahead: 1 }]);
    expect(kinds(await task("mine", "a"))).toEqual(["run_queued_behind"]);
  });

  test("that is not due yet says when, and that its DAG is paused", async () => {
    const runAfter = new Date("2100-01-01T00:00:00Z");
    await seedTask(db, await seedRun(db, dag, "later", { state: "queued", runAfter }), "a");
    await db.read("update dag set is_paused = true");
    expect(await run("later")).toMatchObject({
      conditions: [{ kind: "dag_paused" }, { kind: "run_after_in_future", until: runAfter.getTime() }],
      earliest: runAfter,
    });
  });

  test("that is blocked by its past names the run before", async () => {
    const only = await seedDag(db, "past", { a: { dependsOnPast: true } });
    for (const [runId, state, day] of [
      ["before", "failed", 1],
      ["after", "queued", 2],
    ] as const) {
      const id = await seedRun(db, only, runId, { state });
      await seedTask(db, id, "a", { state: state === "failed" ? "failed" : "none" });
      await db.read("update dag_run set logical_date = $2 where id = $1", [id, new Date(Date.UTC(2026, 0, day))]);
    }
    const found = await explainRun(db, versions, config, "past", "after");
    expect(found.conditions).toEqual([
      { kind: "run_blocked_by_past", runId: "before", tasks: [{ taskId: "a", mapIndex: -1 }] },
    ]);
    expect(found.tasks[0]?.conditions).toEqual([
      { kind: "depends_on_past", runId: "before", taskId: "a", state: "failed" },
    ]);
  });
});

test("a scheduled task names who holds the slots of its pool", async () => {
  await db.read("insert into slot_pool (pool, slots) values ('small', 3)");
  const id = await seedRun(db, dag, "r");
  const held = { pool: "small", queued_dttm: new Date("2026-01-01T00:00:00Z") };
  await seedTask(db, id, "a", { ...held, state: "running", pool_slots: 2 });
  await seedTask(db, id, "b", { pool: "small", state: "scheduled", pool_slots: 2, map_index: 0 });
  await seedTask(db, id, "b", { pool: "small", state: "scheduled", pool_slots: 2, map_index: 1, priority_weight: 9 });
  const found = await task("r", "b", 0);
  expect(found.conditions).toEqual([
    { kind: "pool_full", pool: "small", of: 3, used: 2, needs: 2 },
    { kind: "ahead_of_it", count: 1 },
  ]);
  expect(found.holders).toMatchObject([
    { dagId: "dag", runId: "r", taskId: "a", mapIndex: -1, slots: 2, since: held.queued_dttm },
  ]);
  await db.read("update slot_pool set slots = 1 where pool = 'small'");
  expect(kinds(await task("r", "b", 0))).toContain("pool_too_small");
});

test("a queued task tells whether a worker of its queue lives and has room", async () => {
  const id = await seedRun(db, dag, "r");
  await seedTask(db, id, "a", { state: "queued", queued_dttm: new Date() });
  expect(kinds(await task("r", "a"))).toEqual(["no_live_worker_for_queue", "queued_unclaimed"]);
  await live("WorkerJob", ["default", "heavy"], 1);
  expect(kinds(await task("r", "a"))).toEqual(["queued_unclaimed"]);
  await seedTask(db, id, "b", {
    state: "running",
    worker_job_id: (await db.read<{ id: number }>("select id from job where job_type = 'WorkerJob'"))[0]?.id,
    latest_heartbeat: new Date(),
  });
  expect(kinds(await task("r", "a"))).toEqual(["workers_busy", "queued_unclaimed"]);
  await db.read("update job set latest_heartbeat = now() - interval '1 hour'");
  expect(kinds(await task("r", "a"))).toContain("no_live_worker_for_queue");
});

test("what is not there is an error", async () => {
  await expect(run("nope")).rejects.toMatchObject({ code: "RUN_NOT_FOUND" });
  await seedRun(db, dag, "r");
  await expect(task("r", "nope")).rejects.toMatchObject({ code: "TASK_NOT_FOUND" });
});

test("in every state, of every run, with nothing around it alive, there is a reason and nothing is written", async () => {
  await db.read("delete from job");
  for (const [i, state] of TASK_STATES.entries()) {
    for (const runState of ["queued", "running", "failed"]) {
      const runId = `${runState}_${state}`;
      const id = await seedRun(db, dag, runId, { state: runState });
      await seedTask(db, id, "a", { state, map_index: i });
      const found = await task(runId, "a", i);
      expect(found.conditions.length, runId).toBeGreaterThan(0);
      for (const condition of found.conditions) expect(describeCondition(condition)).toMatch(/\w/);
      expect((await run(runId)).tasks.map((one) => one.conditions.length > 0)).toEqual(isFinished(state) ? [] : [true]);
    }
  }
  expect(await db.read("select from task_instance_transition")).toEqual([]);
});
