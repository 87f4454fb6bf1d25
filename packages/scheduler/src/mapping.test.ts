// Mapped tasks as schedulers expand them on a real database.
import type { MappingSpec, TaskSpec } from "@millrace/sdk/spec";
import { clearTasks, finishAttempts, newId } from "@millrace/shared/db";
import type { AttemptMessage } from "@millrace/shared/queue";
import { afterEach, beforeEach, expect, test } from "vitest";
import { installation } from "./fixtures/installation.ts";

const system = await installation({ "core.max_map_length": 3_000, "scheduler.task_instance_heartbeat_timeout": 30 });
const { db } = system;

const over = (taskId: string, path: readonly string[] = []): MappingSpec => ({
  kind: "expand",
  lists: [{ name: "n", source: { kind: "xcom", taskId, path } }],
});
const literal = (...values: number[]): MappingSpec => ({
  kind: "expand",
  lists: [{ name: "n", source: { kind: "literal", values } }],
});
const mapped = (upstream: string, more: Partial<TaskSpec> = {}): Partial<TaskSpec> => ({
  upstream: [upstream],
  mapping: over(upstream),
  ...more,
});

interface Attempt {
  readonly taskId: string;
  readonly mapIndex: number;
}
type Work = (attempt: Attempt) => unknown;

let work: Work = () => 1;
const FAIL = Symbol("fail");
const SKIP = Symbol("skip");

async function handle(message: AttemptMessage): Promise<void> {
  if (!(await system.claim(message))) return;
  const [attempt] = await db.read<Attempt & { dagRunId: number }>(
    `select task_id as "taskId", map_index as "mapIndex", dag_run_id as "dagRunId" from task_instance where id = $1`,
    [message.id],
  );
  if (attempt === undefined) return;
  const value = await work(attempt);
  const state = value === FAIL ? "failed" : value === SKIP ? "skipped" : "success";
  const pushes = state === "success" && value !== undefined;
  await db.run(finishAttempts, [
    [message.id],
    [message.epoch + 1],
    [state],
    [null],
    pushes ? [message.id] : [],
    pushes ? ["return_value"] : [],
    pushes ? [JSON.stringify(value)] : [],
    [null],
  ]);
  system.broker.wake([{ dagRunId: attempt.dagRunId, taskIds: [attempt.taskId] }]);
}

const gates: (() => void)[] = [];
function newGate() {
  let open = () => {};
  const promise = new Promise<void>((resolve) => (open = resolve));
  gates.push(open);
  return { promise, open: () => open() };
}
// Before the installation waits for what is at work: hooks run in the reverse order.
afterEach(() => {
  for (const open of gates.splice(0)) open();
});

beforeEach(() => {
  work = () => 1;
  system.onMessage(handle);
});

const states = async (runId: string): Promise<Record<string, string>> => {
  const rows = await db.read<{ name: string; state: string }>(
    `select case when map_index < 0 then task_id else task_id || '[' || map_index || ']' end as name,
       coalesce(state, 'none') as state
     from task_instance where run_id = $1 order by task_id, map_index`,
    [runId],
  );
  return Object.fromEntries(rows.map(({ name, state }) => [name, state]));
};
const runState = async (runId: string) =>
  (await db.read<{ state: string }>(`select state from dag_run where run_id = $1`, [runId]))[0]?.state;
const ended = async (runId: string) =>
  await system.until("the end of the run", async () => ["success", "failed"].includes((await runState(runId)) ?? ""));

async function runToEnd(tasks: Record<string, Partial<TaskSpec>>, given: Parameters<typeof system.seedDag>[2] = {}) {
  await system.seedDag("dag", tasks, given);
  await system.startScheduler();
  const runId = await system.trigger("dag");
  await ended(runId);
  return runId;
}

test("a task is expanded when what it is mapped over has ended, and what follows waits for all of it", async () => {
  const seen: string[] = [];
  work = ({ taskId, mapIndex }) => {
    seen.push(`${taskId}${mapIndex}`);
    return taskId === "list" ? [10, 20, 30] : 1;
  };
  const runId = await runToEnd({ list: {}, each: mapped("list"), after: { upstream: ["each"] } });
  expect(await states(runId)).toEqual({
    list: "success",
    "each[0]": "success",
    "each[1]": "success",
    "each[2]": "success",
    after: "success",
  });
  expect(seen[0]).toBe("list-1");
  expect(seen.at(-1)).toBe("after-1");
});

test("nothing is decided of it while one of two upstreams is still at work", async () => {
  const gate = newGate();
  work = async ({ taskId }) => {
    if (taskId === "second") await gate.promise;
    return [1, 2];
  };
  await system.seedDag("dag", {
    first: {},
    second: {},
    each: { upstream: ["first", "second"], mapping: over("second") },
  });
  await system.startScheduler();
  const runId = await system.trigger("dag");
  await system.until("first", async () => (await states(runId))["first"] === "success");
  // A whole look at the run, too.
  await db.read(`update dag_run set last_scheduling_decision = null`);
  await system.until(
    "a sweep",
    async () => (await system.count(`dag_run where last_scheduling_decision is not null`)) > 0,
  );
  expect((await states(runId))["each"]).toBe("none");
  gate.open();
  await ended(runId);
  expect(await states(runId)).toMatchObject({ "each[0]": "success", "each[1]": "success" });
});

test("a list of nothing skips it, and what is no list or too long fails it with the reason", async () => {
  work = ({ taskId }) =>
    ({ none: [], text: "abc", object: { a: 1 }, long: Array.from({ length: 3_001 }, () => 0) })[taskId];
  const runId = await runToEnd({
    ...{ none: {}, text: {}, object: {}, long: {}, void: {} },
    of_none: mapped("none"),
    of_text: mapped("text"),
    of_object: mapped("object"),
    of_long: mapped("long"),
    of_void: mapped("void"),
    all_done: { upstream: ["of_none"], triggerRule: "all_done" },
    of_all: { upstream: ["of_none"], triggerRule: "all_done", mapping: over("of_none") },
  });
  expect(await states(runId)).toMatchObject({
    ...{ of_none: "skipped", of_text: "failed", of_object: "failed", of_long: "failed", of_void: "failed" },
    all_done: "success",
    of_all: "skipped",
  });
  const reasons = await db.read<{ reason: string }>(
    `select state_reason as reason from task_instance where state = 'failed' order by task_id`,
  );
  expect(reasons.map(({ reason }) => reason)).toEqual([
    "it would have 3001 instances, more than 3000: see core.max_map_length",
    "it is mapped over object, which is no list: it is an object; let it be Object.entries(…) of that, or [...map]",
    "it is mapped over text, which is no list: it is a string",
    "it is mapped over void, which is no list: nothing was returned",
  ]);
});

const cleared = async (runId: string, taskIds: readonly string[], mapIndexes?: Record<string, number[]>) => {
  const { dagRunIds } = await clearTasks(db, system.versions, {
    dagId: "dag",
    runIds: [runId],
    taskIds,
    user: "ada",
    ...(mapIndexes === undefined ? {} : { mapIndexes }),
  });
  system.broker.wake([
    ...dagRunIds.map((dagRunId) => ({ dagRunId, taskIds: null })),
    { dagRunId: null, taskIds: null },
  ]);
};

test("after a clear it has more instances, fewer, none, and as many again", async () => {
  let list = [1, 2, 3, 4, 5];
  work = ({ taskId, mapIndex }) => (taskId === "list" ? list : mapIndex);
  const runId = await runToEnd({ list: {}, each: mapped("list"), after: { upstream: ["each"] } });
  const again = async (next: number[]) => {
    list = next;
    await cleared(runId, ["list", "each", "after"]);
    await ended(runId);
    return await states(runId);
  };
  expect(await again([1, 2, 3])).toEqual({
    ...{ list: "success", "each[0]": "success", "each[1]": "success", "each[2]": "success" },
    ...{ "each[3]": "removed", "each[4]": "removed", after: "success" },
  });
  expect(await again([1, 2, 3, 4, 5, 6, 7])).toMatchObject({
    "each[3]": "success",
    "each[6]": "success",
    after: "success",
  });
  const none = await again([]);
  expect(none).toMatchObject({ each: "skipped", "each[1]": "removed", "each[6]": "removed", after: "skipped" });
  expect(Object.keys(none)).not.toContain("each[0]");
  expect(await again([1, 2])).toEqual({
    ...{ list: "success", "each[0]": "success", "each[1]": "success", after: "success" },
    ...{ "each[2]": "removed", "each[3]": "removed", "each[4]": "removed", "each[5]": "removed", "each[6]": "removed" },
  });
  expect(await runState(runId)).toBe("success");
});

test("one instance is cleared and runs again, and removed ones come back when the list has grown", async () => {
  let list = [1, 2, 3];
  work = ({ taskId }) => (taskId === "list" ? list : 1);
  const runId = await runToEnd({ list: {}, each: mapped("list") });
  list = [1];
  await cleared(runId, ["list", "each"]);
  await ended(runId);
  expect(await states(runId)).toEqual({
    list: "success",
    "each[0]": "success",
    "each[1]": "removed",
    "each[2]": "removed",
  });
  list = [1, 2, 3, 4];
  await cleared(runId, ["list"]);
  await ended(runId);
  await cleared(runId, ["each"], { each: [0] });
  await ended(runId);
  expect(await states(runId)).toEqual({
    ...{ list: "success", "each[0]": "success", "each[1]": "success", "each[2]": "success", "each[3]": "success" },
  });
});

test("the next run does not wait for instances that an earlier one removed", async () => {
  let list = [1, 2, 3];
  work = ({ taskId }) => (taskId === "list" ? list : 1);
  await system.seedDag("dag", { list: {}, each: mapped("list", { dependsOnPast: true }) });
  await system.startScheduler();
  const first = await system.trigger("dag", "first", new Date("2026-01-01T00:00:00Z"));
  await ended(first);
  list = [1];
  await cleared(first, ["list", "each"]);
  await ended(first);
  const second = await system.trigger("dag", "second", new Date("2026-01-02T00:00:00Z"));
  await ended(second);
  expect(await runState(second)).toBe("success");
});

test("an instance that fails, or skips itself, counts for what follows by its trigger rule", async () => {
  work = ({ taskId, mapIndex }) =>
    taskId === "list"
      ? [0, 1, 2]
      : taskId === "each" && mapIndex === 1
        ? FAIL
        : taskId === "other" && mapIndex === 1
          ? SKIP
          : 1;
  const runId = await runToEnd({
    list: {},
    each: mapped("list"),
    other: mapped("list"),
    strict: { upstream: ["each"] },
    done: { upstream: ["each"], triggerRule: "all_done" },
    one: { upstream: ["each"], triggerRule: "one_failed" },
    skipped: { upstream: ["other"] },
    none_failed: { upstream: ["other"], triggerRule: "none_failed" },
  });
  expect(await states(runId)).toMatchObject({
    ...{ strict: "upstream_failed", done: "success", one: "success", skipped: "skipped", none_failed: "success" },
  });
  expect(await runState(runId)).toBe("failed");
});

const GROUP = { groups: [{ groupId: "g", mapping: over("list") }] };
const inGroup = (upstream: readonly string[], more: Partial<TaskSpec> = {}) => ({ upstream, mapGroupId: "g", ...more });

test("a mapped group goes depth first, and judges its rules for each index", async () => {
  const gate = newGate();
  work = async ({ taskId, mapIndex }) => {
    if (taskId === "g.a" && mapIndex === 0) await gate.promise;
    return taskId === "list" ? [0, 1, 2] : taskId === "g.a" && mapIndex === 2 ? FAIL : 1;
  };
  await system.seedDag(
    "dag",
    {
      list: {},
      "g.a": inGroup(["list"]),
      "g.b": inGroup(["g.a"], { triggerRule: "none_failed_min_one_success" }),
      "g.c": inGroup(["g.b", "list"], { triggerRule: "all_done" }),
      after: { upstream: ["g.c"] },
    },
    { spec: GROUP },
  );
  await system.startScheduler();
  const runId = await system.trigger("dag");
  await system.until("the second index", async () => (await states(runId))["g.c[1]"] === "success");
  expect(await states(runId)).toMatchObject({ "g.a[0]": "running", "g.b[0]": "none", after: "none" });
  gate.open();
  await ended(runId);
  expect(await states(runId)).toEqual({
    ...{ list: "success", "g.a[0]": "success", "g.a[1]": "success", "g.a[2]": "failed" },
    ...{ "g.b[0]": "success", "g.b[1]": "success", "g.b[2]": "upstream_failed" },
    ...{ "g.c[0]": "success", "g.c[1]": "success", "g.c[2]": "success", after: "success" },
  });
  expect(await runState(runId)).toBe("success");
});

/** Another version of the DAG, with which cleared runs go on that are to go on with the newest. */
async function changeDag(change: (spec: { tasks: { taskId: string; mapping?: MappingSpec }[] }) => void) {
  const [newest] = await db.read<{ data: Parameters<typeof change>[0]; number: number }>(
    `select s.data, v.version_number as number from serialized_dag s join dag_version v on v.id = s.dag_version_id
     order by v.version_number desc limit 1`,
  );
  if (newest === undefined) throw new Error("no DAG");
  change(newest.data);
  const id = newId();
  await db.read(`insert into dag_version (id, dag_id, version_number, artifact_hash) values ($1, 'dag', $2, 'h')`, [
    id,
    newest.number + 1,
  ]);
  await db.read(
    `insert into serialized_dag (id, dag_id, data, dag_hash, dag_version_id) values ($1, 'dag', $2, $3, $4)`,
    [newId(), JSON.stringify(newest.data), `h${newest.number + 1}`, id],
  );
}

test("a run that is moved to the newest version of its DAG has the instances which that says, mapped or not", async () => {
  work = ({ taskId }) => (taskId === "list" ? [1, 2, 3] : 1);
  const runId = await runToEnd({ list: {}, each: mapped("list"), after: { upstream: ["each"] } });
  const again = async (mapIndexes?: Record<string, number[]>) => {
    const request = { dagId: "dag", runIds: [runId], taskIds: ["each"], downstream: true, runOnLatestVersion: true };
    await clearTasks(db, system.versions, {
      ...request,
      user: "ada",
      ...(mapIndexes === undefined ? {} : { mapIndexes }),
    });
    await ended(runId);
    return await states(runId);
  };
  await changeDag(({ tasks }) => delete tasks.find(({ taskId }) => taskId === "each")?.mapping);
  expect(await again()).toEqual({
    list: "success",
    each: "success",
    "each[1]": "removed",
    "each[2]": "removed",
    after: "success",
  });
  await changeDag(({ tasks }) => Object.assign(tasks.find(({ taskId }) => taskId === "each") ?? {}, mapped("list")));
  const expanded = { "each[0]": "success", "each[1]": "success", "each[2]": "success" };
  expect(await again()).toEqual({ list: "success", ...expanded, after: "success" });
  // One instance is named, of a task that has none any more.
  await changeDag(({ tasks }) => delete tasks.find(({ taskId }) => taskId === "each")?.mapping);
  expect(await again({ each: [2] })).toMatchObject({ each: "success", "each[1]": "success", "each[2]": "removed" });
});

test("instances obey the limits of their task", async () => {
  let [now, most] = [0, 0];
  work = async ({ taskId }) => {
    if (taskId === "list") return Array.from({ length: 20 }, (_, n) => n);
    now++;
    most = Math.max(most, now);
    await new Promise((resolve) => setImmediate(resolve));
    now--;
    return 1;
  };
  await runToEnd({ list: {}, each: mapped("list", { maxActiveTisPerDagrun: 3 }) });
  expect(most).toBeLessThanOrEqual(3);
});

test("several schedulers expand it once, in a run that begins with it and has hundreds of instances", async () => {
  await system.seedDag("dag", {
    each: { mapping: literal(...Array.from({ length: 500 }, (_, n) => n)) },
    after: { upstream: ["each"] },
  });
  await system.startScheduler();
  await system.startScheduler();
  const runId = await system.trigger("dag");
  await ended(runId);
  expect(await system.count(`task_instance where task_id = 'each' and state = 'success' and try_number = 1`)).toBe(500);
  expect(await system.count(`task_instance`)).toBe(501);
});
