import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { openDatabase, seedDag, seedRun, seedTask, standings, transitions } from "./fixtures/seed.ts";
import {
  claimAttempts,
  clearTasks,
  DagVersions,
  deferAttempts,
  finishAttempts,
  markTasks,
  newId,
  readIsLatestRun,
  rescheduleAttempts,
  retryAttempts,
  startFromTriggers,
  timeOutTriggers,
  triggerRunForTask,
  waitedExternalStates,
  writeXCom,
} from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url, { maxConnections: 3 });
const versions = new DagVersions(db);
afterAll(() => db.close());
beforeEach(() => database.reset());

const seed = async (state: "running" | "queued" | "none" = "running", columns = {}) => {
  const run = await seedRun(db, await seedDag(db, "dag"), "r");
  return await seedTask(db, run, "a", { state, try_number: 1, max_tries: 2, start_date: new Date(), ...columns });
};
const defer = (id: string, epoch: number, timeout: number | null = null, question: string | null = null) =>
  db.run(deferAttempts, [
    [id],
    [epoch],
    ["millrace.time"],
    [`{"afterSeconds": 5}`],
    [null],
    ["resume"],
    [`{"kept": 1}`],
    [timeout],
    [question],
  ]);
const triggers = () => db.read<{ classpath: string; kwargs: string }>("select classpath, kwargs from trigger");
const task = async () => (await db.read<Record<string, unknown>>("select * from task_instance"))[0] ?? {};
const claim = async (id: string, epoch: number) =>
  (await db.run(claimAttempts, [[id], [epoch], [newId()], "host", "user", 1, 1]))[0];
const queue = async (id: string): Promise<number> => {
  const sql = "update task_instance set state = 'queued', epoch = epoch + 1 where id = $1";
  await db.read(sql, [id]);
  return (await standings(db, "a"))[0]?.epoch ?? 0;
};

describe("a deferral", () => {
  test("makes its trigger, once, and is refused to an attempt that is another's", async () => {
    const id = await seed();
    expect(await defer(id, 4)).toEqual([]);
    expect(await triggers()).toEqual([]);
    expect(await defer(id, 5, 60)).toEqual([{ id }]);
    expect(await defer(id, 5, 60)).toEqual([]);
    expect(await triggers()).toEqual([{ classpath: "millrace.time", kwargs: `{"afterSeconds": 5}` }]);
    const row = await task();
    expect(row).toMatchObject({ state: "deferred", next_method: "resume", next_kwargs: { state: { kept: 1 } } });
    expect(row["trigger_timeout"]).toBeInstanceOf(Date);
  });

  test("stores what it asks of people", async () => {
    const id = await seed();
    const question = { subject: "Ship it?", options: ["yes", "no"], multiple: false, params: {}, assignedUsers: [] };
    await defer(id, 5, null, JSON.stringify(question));
    const [asked] = await db.read("select ti_id, subject, options, responded_at from hitl_detail");
    expect(asked).toEqual({ ti_id: id, subject: "Ship it?", options: ["yes", "no"], responded_at: null });
  });

  test("whose time is over resumes with that, and its trigger goes", async () => {
    const id = await seed();
    await defer(id, 5, 3600);
    expect(await db.run(timeOutTriggers, [10])).toEqual([]);
    await db.read("update task_instance set trigger_timeout = now() - interval '1 s'");
    expect(await db.run(timeOutTriggers, [10])).toMatchObject([{ id, taskId: "a" }]);
    expect(await task()).toMatchObject({
      state: "scheduled",
      next_method: "resume",
      next_kwargs: { state: { kept: 1 }, event: { kind: "timeout" } },
      trigger_id: null,
    });
    expect(await triggers()).toEqual([]);
  });

  test("keeps the XComs and the start of its try, also of a later try", async () => {
    const id = await seed("running", { try_number: 2, start_date: new Date(Date.now() - 60_000) });
    await db.run(writeXCom, [id, 5, "half", "1"]);
    await defer(id, 5, 1);
    await db.read("update task_instance set trigger_timeout = now() - interval '1 s'");
    await db.run(timeOutTriggers, [10]);
    const epoch = await queue(id);
    const claimed = await claim(id, epoch);
    expect(claimed).toMatchObject({ tryNumber: 2, nextMethod: "resume", nextKwargs: { event: { kind: "timeout" } } });
    expect(claimed?.waitedSeconds).toBeGreaterThan(59);
    expect(await db.read("select key from xcom")).toEqual([{ key: "half" }]);
    await db.run(finishAttempts, [[id], [epoch + 1], ["success"], [null], [], [], [], [null]]);
    expect(await task()).toMatchObject({ state: "success", next_method: null, next_kwargs: null });
  });

  test.each(["cleared", "marked"])("that is %s loses its trigger", async (how) => {
    const id = await seed();
    await defer(id, 5);
    const about = { dagId: "dag", runIds: ["r"], taskIds: ["a"], user: "ada" };
    if (how === "cleared") await clearTasks(db, versions, about);
    else await markTasks(db, versions, { ...about, state: "success" });
    expect(await triggers()).toEqual([]);
    expect(await task()).toMatchObject({
      state: how === "cleared" ? null : "success",
      trigger_id: null,
      next_method: null,
    });
  });

  test("that begins a try comes before any worker, and begins its XComs afresh", async () => {
    const id = await seed("running", { try_number: 1 });
    await db.run(writeXCom, [id, 5, "old", "1"]);
    const next = newId();
    await db.run(retryAttempts, [[id], [5], [next], [0], [false], [false], ["it failed"]]);
    const start = [["up_for_retry"], ["millrace.time"], ["{}"], [null], ["end"], [30]] as const;
    expect(await db.run(startFromTriggers, [[next], [6], ...start])).toEqual([{ id: next }]);
    expect(await task()).toMatchObject({ state: "deferred", try_number: 2, next_method: "end" });
    expect(await db.read("select key from xcom")).toEqual([]);
    expect((await transitions(db)).map(({ from, to }) => `${from}>${to}`)).toEqual([
      "running>up_for_retry",
      "up_for_retry>deferred",
    ]);
  });
});

describe("a reschedule", () => {
  test("leaves a row of its poke, counts, and goes on in the same try with its XComs", async () => {
    const id = await seed("running", { try_number: 2 });
    await db.run(writeXCom, [id, 5, "half", "1"]);
    for (let poke = 1, epoch = 5; poke <= 3; poke++) {
      expect(await db.run(rescheduleAttempts, [[id], [epoch], [0.01], [new Date()]])).toEqual([{ id }]);
      expect(await db.run(rescheduleAttempts, [[id], [epoch], [0.01], [new Date()]])).toEqual([]);
      expect(await standings(db, "a")).toMatchObject([{ id, state: "up_for_reschedule" }]);
      await db.read("update task_instance set state = 'scheduled', epoch = epoch + 1");
      const queued = await queue(id);
      const claimed = await claim(id, queued);
      expect(claimed).toMatchObject({ tryNumber: 2, nextMethod: "poke", nextKwargs: { reschedules: poke } });
      epoch = queued + 1;
    }
    expect(await db.read("select ti_id from task_reschedule")).toHaveLength(3);
    expect(await db.read("select key from xcom")).toEqual([{ key: "half" }]);
  });
});

describe("a run that a task starts", () => {
  const attempt = { dagId: "parent", runId: "r", taskId: "t", mapIndex: -1, tryNumber: 1 };

  test("is found again by the attempt that asked for it, and exists for every other", async () => {
    await seedDag(db, "dag");
    const request = { dagId: "dag", runId: "child", conf: { n: 1 }, note: "from its parent" };
    const first = await triggerRunForTask(db, versions, request, attempt);
    expect(first).toMatchObject({ runId: "child", outcome: "created" });
    expect(await triggerRunForTask(db, versions, request, attempt)).toMatchObject({ outcome: "created" });
    expect(await triggerRunForTask(db, versions, request, { ...attempt, taskId: "u" })).toMatchObject({
      outcome: "exists",
      dagRunIds: [],
    });
    expect(await db.read("select run_id, run_type, triggered_by from dag_run")).toEqual([
      { run_id: "child", run_type: "manual", triggered_by: "OPERATOR" },
    ]);
    expect(await db.read("select content from dag_run_note")).toEqual([{ content: "from its parent" }]);
  });

  test("is cleared where that is wished, and refused while its DAG is paused where that is wished", async () => {
    await seedDag(db, "dag");
    const request = { dagId: "dag", runId: "child", resetDagRun: true };
    await triggerRunForTask(db, versions, request, attempt);
    await db.read("update task_instance set state = 'skipped', epoch = epoch + 1");
    const again = await triggerRunForTask(db, versions, request, { ...attempt, tryNumber: 2 });
    expect(again).toMatchObject({ outcome: "reset" });
    expect(await standings(db, "a")).toMatchObject([{ state: "none" }]);
    await db.read("update dag set is_paused = true");
    await expect(
      triggerRunForTask(db, versions, { dagId: "dag", failWhenDagIsPaused: true }, attempt),
    ).rejects.toMatchObject({ code: "DAG_PAUSED" });
  });
});

test("the states of another DAG are read by run, by logical date, by task and by group", async () => {
  const dag = await seedDag(db, "other", { a: {}, "g.b": {}, "g.c": {} });
  const run = await seedRun(db, dag, "r1", { state: "running" });
  const at = "2026-01-01T00:00:00.000Z";
  await db.read("update dag_run set logical_date = $1", [at]);
  await seedTask(db, run, "a", { state: "success" });
  await seedTask(db, run, "g.b", { state: "failed" });
  await seedTask(db, run, "g.c");
  const of = (wait: { taskIds?: string[]; taskGroupId?: string; runIds?: string[]; logicalDates?: string[] }) =>
    db.run(waitedExternalStates, [JSON.stringify([{ dagId: "other", runIds: [], logicalDates: [], ...wait }])]);
  const found = { place: 0, runId: "r1", logicalDate: at, mapIndex: -1 };
  expect(await of({ runIds: ["r1"] })).toEqual([{ ...found, taskId: null, state: "running" }]);
  expect(await of({ runIds: ["r1"], logicalDates: [at] })).toEqual([{ ...found, taskId: null, state: "running" }]);
  expect(await of({ taskIds: ["a"], logicalDates: [at] })).toEqual([{ ...found, taskId: "a", state: "success" }]);
  const group = await of({ taskGroupId: "g", runIds: ["r1"] });
  expect(group.map(({ taskId, state }) => `${taskId} ${state}`).sort()).toEqual(["g.b failed", "g.c none"]);
  expect(await of({ runIds: ["r2"], logicalDates: ["2026-01-02T00:00:00Z"] })).toEqual([]);
});

test("a run is the latest of its schedule until a later one is made or due", async () => {
  const dag = await seedDag(db, "dag");
  const run = await seedRun(db, dag, "r1", { runType: "scheduled" });
  await db.read("update dag_run set logical_date = '2026-01-01'");
  const isLatest = async () => (await db.run(readIsLatestRun, [run]))[0]?.isLatest;
  expect(await isLatest()).toBe(true);
  await db.read("update dag set next_dagrun = '2026-01-02', next_dagrun_create_after = now() + interval '1 day'");
  expect(await isLatest()).toBe(true);
  await db.read("update dag set next_dagrun_create_after = now()");
  expect(await isLatest()).toBe(false);
  await db.read("update dag set next_dagrun = null, next_dagrun_create_after = null");
  const other = await seedRun(db, dag, "r2", { runType: "scheduled" });
  await db.read("update dag_run set logical_date = '2026-01-02' where id = $1", [other]);
  expect(await isLatest()).toBe(false);
});
