// Triggers of a DAG file in their own process: what they give, what they are given, and what becomes of the others when
// one of them blocks, throws or ends the process.
import { readFile } from "node:fs/promises";
import { attemptLogPath } from "@millrace/shared/observability";
import { testDatabase, waitUntil } from "@millrace/testkit";
import { afterEach, beforeEach, expect, test } from "vitest";
import { openRig, type Wait, type WaitingTask, type WaitRig } from "../../fixtures/waits.ts";

const database = await testDatabase();
let rig: WaitRig;

beforeEach(async () => {
  await database.reset();
  rig = await openRig(database.url);
  await rig.seed();
});
afterEach(() => rig.close());

const until = (what: string, check: () => Promise<boolean>) => waitUntil(check, { what, timeoutMs: 15_000 });

async function resumed(...taskIds: readonly string[]): Promise<Readonly<Record<string, WaitingTask>>> {
  await until(`${taskIds.join(", ")} resumed`, async () => {
    const tasks = await rig.tasks();
    return taskIds.every((taskId) => tasks[taskId]?.state === "scheduled");
  });
  return await rig.tasks();
}

const logOf = (taskId: string) =>
  readFile(
    attemptLogPath(`${rig.folder}/logs`, { dagId: "waits", runId: "r", taskId, mapIndex: -1, tryNumber: 1 }),
    "utf8",
  ).catch(() => "");

/** Goes on until its flag is set. */
const watching = (name: string): Wait => ({ name: "flag", kwargs: { name } });
const setFlag = (name: string) => rig.db.read("insert into variable (key, val) values ($1, 'set')", [name]);
const QUICK_BLOCK = { MILLRACE__TRIGGERER__MAX_BLOCK_SECONDS: "0.4" };

test("a trigger is given its kwargs and its attempt, and its event reaches the task", async () => {
  await rig.triggerer();
  await rig.defer({ t: { name: "echo", kwargs: { table: "sales" } } });
  const { t } = await resumed("t");
  expect(t?.event).toEqual({ kind: "event", payload: { kwargs: { table: "sales" }, dagId: "waits", taskId: "t" } });
});

test("two hundred that are true already all resume", async () => {
  await rig.triggerer();
  const ids = Array.from({ length: 200 }, (_, n) => `t${n}`);
  await rig.defer(Object.fromEntries(ids.map((id) => [id, { name: "echo", kwargs: { id } }])));
  const tasks = await resumed(...ids);
  expect(ids.every((id) => tasks[id]?.epoch === 5)).toBe(true);
});

test("one that throws, one that nobody defined and one that throws where nobody hears it tell their tasks only", async () => {
  await rig.triggerer();
  await rig.defer({
    ...{
      throws: { name: "throws" },
      missing: { name: "nobody" },
      astray: { name: "astray" },
      rejects: { name: "rejects" },
    },
    other: watching("go"),
  });
  const tasks = await resumed("throws", "missing", "astray", "rejects");
  const error = (taskId: string) => tasks[taskId]?.event?.["error"];
  expect(error("throws")).toMatchObject({ name: "TypeError", message: "no such table" });
  expect(error("missing")).toMatchObject({ name: "TriggerNotFound", message: "no trigger nobody" });
  expect(error("astray")).toMatchObject({ name: "RangeError", message: "astray" });
  expect(error("rejects")).toMatchObject({ name: "RangeError", message: "unheard" });
  expect(tasks["other"]?.state).toBe("deferred");
  await setFlag("go");
  await resumed("other");
  await until("it is in the log", async () => (await logOf("throws")).includes("trigger throws failed: TypeError"));
});

test.each([
  ["blocks with a loop", { name: "block", kwargs: { ms: 5_000, after: 50 } }],
  ["never lets the event loop turn", { name: "spin", kwargs: {} }],
])("one that %s fails by name, and the others start again", async (_, blocking) => {
  await rig.triggerer(QUICK_BLOCK);
  await rig.defer({ blocking, first: watching("first"), second: watching("second") });
  const { blocking: culprit, ...others } = await resumed("blocking");
  expect(culprit?.event).toMatchObject({
    kind: "failed",
    error: {
      name: "TriggerBlocked",
      message: expect.stringMatching(
        new RegExp(`^trigger ${blocking.name}: its process had its event loop blocked for .* allows 0.4 s`),
      ) as string,
    },
  });
  expect(others["first"]?.state).toBe("deferred");
  await Promise.all([setFlag("first"), setFlag("second")]);
  await resumed("first", "second");
});

test("one that blocks for a moment is warned of in its log, and goes on", async () => {
  await rig.triggerer({ MILLRACE__TRIGGERER__MAX_BLOCK_SECONDS: "5" });
  await rig.defer({ t: { name: "block", kwargs: { ms: 500 } } });
  const { t } = await resumed("t");
  expect(t?.event).toMatchObject({ kind: "event", payload: "blocked" });
  await until("it is warned", async () => (await logOf("t")).includes("trigger block blocks the event loop, for"));
});

test("one that ends the process fails, and does not take the others with it", async () => {
  await rig.triggerer();
  await rig.defer({ exits: { name: "exits" }, other: watching("go") });
  const { exits } = await resumed("exits");
  expect(exits?.event).toMatchObject({
    error: { name: "TriggerExited", message: "trigger exits: its process was ended by it with process.exit(3)" },
  });
  await setFlag("go");
  await resumed("other");
});

test("a process that keeps ending for no known reason fails the triggers of its artifact", async () => {
  await rig.triggerer();
  await rig.defer({ dies: { name: "dies" }, other: watching("never") });
  const tasks = await resumed("dies", "other");
  expect(tasks["other"]?.event).toMatchObject({
    error: {
      name: "TriggerProcessDied",
      message: expect.stringContaining(
        "ended 3 times within a minute; the last time it was killed by SIGKILL",
      ) as string,
    },
  });
});

test("an event that cannot be kept fails its trigger by name", async () => {
  await rig.triggerer();
  await rig.defer({ large: { name: "large" }, nul: { name: "nul" }, bigint: { name: "bigint" } });
  const tasks = await resumed("large", "nul", "bigint");
  const error = (taskId: string) => tasks[taskId]?.event?.["error"];
  expect(error("large")).toMatchObject({
    message: expect.stringContaining(
      "trigger large: its event has 2000002 bytes of JSON, and core.max_xcom_bytes allows 1048576: triggers store",
    ) as string,
  });
  expect(error("nul")).toMatchObject({ message: expect.stringContaining("trigger nul: its event contains") as string });
  expect(error("bigint")).toMatchObject({ message: expect.stringContaining("BigInt") as string });
});

test("a trigger can end its task without a worker", async () => {
  await rig.triggerer();
  const ending = (end: unknown): Wait => ({ name: "end", kwargs: { end } });
  await rig.defer({
    ok: ending({ state: "success", value: { rows: 3 } }),
    skipped: ending({ state: "skipped", message: "holiday" }),
    failed: ending({ state: "failed", message: "gone" }),
    final: { ...ending({ state: "failed", message: "gone for good", retryable: false }), retries: 1 },
    retried: { ...ending({ state: "failed", message: "gone" }), retries: 1 },
  });
  await until("all ended", async () => Object.values(await rig.tasks()).every((task) => task.state !== "deferred"));
  const tasks = await rig.tasks();
  expect(
    Object.values(tasks)
      .map(({ taskId, state, reason }) => [taskId, state, reason])
      .sort(([a], [b]) => String(a).localeCompare(String(b))),
  ).toEqual([
    ["failed", "failed", "gone"],
    ["final", "failed", "gone for good"],
    ["ok", "success", null],
    ["retried", "up_for_retry", "gone"],
    ["skipped", "skipped", "holiday"],
  ]);
  expect(await rig.db.read("select task_id, key, value from xcom")).toEqual([
    { task_id: "ok", key: "return_value", value: { rows: 3 } },
  ]);
  expect(await rig.db.read("select task_id, state, try_number from task_instance_history")).toEqual([
    { task_id: "retried", state: "failed", try_number: 1 },
  ]);
  expect(await rig.db.read("select id from trigger")).toEqual([]);
});

test("what triggers print goes to the log of each one's attempt", async () => {
  await rig.triggerer();
  await rig.defer({ a: { name: "prints" }, b: { name: "prints" } });
  await resumed("a", "b");
  for (const taskId of ["a", "b"]) {
    await until("both lines are there", async () => /"one"[^]*"two"/.test(await logOf(taskId)));
    expect((await logOf(taskId)).trim().split("\n")).toHaveLength(2);
  }
});

test("a trigger whose task no longer waits is aborted", async () => {
  await rig.triggerer();
  const { t } = await rig.defer({ t: { name: "aborts", kwargs: { name: "end" } } });
  const isSet = async (key: string) => (await rig.db.read("select from variable where key = $1", [key])).length === 1;
  await until("it runs", () => isSet("end.started"));
  await rig.db.read(
    "update task_instance set state = null, epoch = epoch + 1, trigger_id = null where trigger_id = $1",
    [t],
  );
  await rig.db.read("delete from trigger where id = $1", [t]);
  rig.broker.callTriggerers();
  await until("it heard of it", () => isSet("end"));
  expect((await rig.tasks())["t"]?.state).toBeNull();
});
