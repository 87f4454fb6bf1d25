// "Why did my callback not run?", asked of a task instance and of a run.
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, expect, test } from "vitest";
import { loadConfig } from "../config/index.ts";
import { describeCondition } from "../model/index.ts";
import { openDatabase, seedDag, seedRun, seedTask } from "./fixtures/seed.ts";
import {
  claimCallbacks,
  DagVersions,
  defineStatement,
  explainRun,
  explainTask,
  finishCallback,
  listCallbacks,
  withoutCallbacks,
} from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url);
afterAll(() => db.close());
const versions = new DagVersions(db);
const config = loadConfig({ env: {}, cwd: "/nonexistent" });
const fail = defineStatement<readonly [], never>({
  name: "test-fail-tasks",
  sql: "update task_instance set state = 'failed', epoch = epoch + 1, end_date = now()",
});
let run = 0;

beforeEach(async () => {
  await database.reset();
  run = await seedRun(db, await seedDag(db, "dag"), "r");
  await db.read(`update dag_run set callbacks = '{onFailure}'`);
});

/** What is said of callbacks; not how the task or run is. */
const told = async (of: "task" | "run") => {
  const found =
    of === "run" ? explainRun(db, versions, config, "dag", "r") : explainTask(db, versions, config, "dag", "r", "a");
  return (await found).conditions.filter(({ kind }) => kind.startsWith("callback")).map(describeCondition);
};
const seed = (state: "running" | "none", callbacks = "{onFailure,onSkipped,onSuccess}") =>
  seedTask(db, run, "a", { state, callbacks, try_number: 1, ...(state === "none" ? {} : { start_date: new Date() }) });
const end = (state: string) =>
  db.read("update task_instance set state = $1, epoch = epoch + 1, end_date = now()", [state]);
const worker = () =>
  db.read<{ id: number }>(
    "insert into job (job_type, state, hostname) values ('WorkerJob', 'running', 'w1') returning id",
  );

test("a callback that was asked for waits, runs, is called or fails, and is told so", async () => {
  await seed("running");
  await end("failed");
  expect(await told("task")).toEqual([
    expect.stringMatching(/^onFailure of try 1 waits for a worker since .*, and no worker lives$/),
  ]);
  const [job] = await worker();
  expect((await told("task"))[0]).toMatch(/since \d{4}-[^,]*Z$/);
  const [claimed] = await db.run(claimCallbacks, [10, job?.id ?? 0, 60]);
  expect(await told("task")).toEqual(["onFailure of try 1 runs on w1"]);
  await db.run(finishCallback, [claimed?.id ?? "", 1, job?.id ?? 0, "failed", "Error: no such channel"]);
  expect(await told("task")).toEqual(["onFailure of try 1 failed: Error: no such channel"]);
  expect((await listCallbacks(db, run, { state: ["failed"], taskId: "a" })).items).toMatchObject([
    { kind: "onFailure", state: "failed", attempts: 1, hostname: "w1", output: "Error: no such channel" },
  ]);
  expect((await listCallbacks(db, run, { state: ["pending"] })).totalEntries).toBe(0);
});

test("one that nobody asked for is told why: its task never ran, or whoever marked it wanted none", async () => {
  await seed("none");
  await end("skipped");
  expect(await told("task")).toEqual(["onSkipped is not called: it never ran"]);
  await db.read("delete from task_instance");
  await seed("running");
  await db.transaction(async (tx) => {
    await tx.run(withoutCallbacks, []);
    await tx.run(fail, []);
  });
  expect(await told("task")).toEqual(["onFailure is not called: whoever changed the state asked for none"]);
});

test("a task without one, and one that has not ended, say nothing of callbacks", async () => {
  await seed("running", "{onSkipped}");
  expect(await told("task")).toEqual([]);
  await end("failed");
  expect(await told("task")).toEqual([]);
});

test("a run tells of its own, since it was cleared last", async () => {
  expect(await told("run")).toEqual([]);
  await db.read("update dag_run set state = 'failed', end_date = now()");
  expect(await told("run")).toEqual([expect.stringMatching(/^dagOnFailure waits for a worker/)]);
  await db.read("update callback set state = 'success'");
  expect(await told("run")).toEqual(["dagOnFailure was called"]);
  await db.read("update dag_run set clear_number = clear_number + 1");
  expect(await told("run")).toEqual(["dagOnFailure is not called: whoever changed the state asked for none"]);
});
