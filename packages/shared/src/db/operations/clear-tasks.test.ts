import { describe, expect, test } from "vitest";
import { seedDag, seedRun, seedTask } from "../fixtures/seed.ts";
import { DagVersions } from "../index.ts";
import { clearTasks, type ClearRequest } from "./index.ts";
import { history, names, USER } from "./fixtures/history.ts";

const { db, versions, seed, states, row, run, log, day } = await history();

const clear = (given: Partial<ClearRequest> = {}) =>
  clearTasks(db, versions, { dagId: "dag", runIds: ["r1"], user: USER, ...given });
const cleared = async (given: Partial<ClearRequest>) => names((await clear(given)).tasks);
const FAILED = { load: "failed", report: "upstream_failed" } as const;

describe("a clear takes", () => {
  test.each<[string, Partial<ClearRequest>, string[]]>([
    ["ids", { taskIds: ["load", "make"] }, ["load", "make"]],
    ["what a pattern matches anywhere", { pattern: /o(a|r)/ }, ["load", "report"]],
    ["every task when none is named", {}, ["clean", "extract", "load", "make", "report"]],
    ["what is upstream at any distance", { taskIds: ["load"], upstream: true }, ["extract", "load", "make"]],
    ["what is downstream at any distance", { taskIds: ["load"], downstream: true }, ["clean", "load", "report"]],
    ["the setups of the work with their teardowns", { taskIds: ["load"], withSetups: true }, ["clean", "load", "make"]],
    ["only what failed", { onlyFailed: true }, ["load", "report"]],
    ["only what a worker has", { onlyRunning: true }, []],
    ["nothing when nothing matches", { pattern: /^nothing$/ }, []],
  ])("%s", async (_what, given, expected) => {
    await seed([FAILED]);
    expect(await cleared(given)).toEqual(expected.map((task) => `r1 ${task}`));
  });

  test("runs before and after by logical date, or between two dates", async () => {
    await seed([{}, {}, {}]);
    const taskIds = ["load"];
    const dry = { taskIds, dryRun: true };
    expect(await cleared({ ...dry, runIds: ["r2"], past: true })).toEqual(["r1 load", "r2 load"]);
    expect(await cleared({ ...dry, runIds: ["r2"], future: true })).toEqual(["r2 load", "r3 load"]);
    expect(await cleared({ ...dry, runIds: ["r1", "r3"] })).toEqual(["r1 load", "r3 load"]);
    const { runIds: _all, ...byDate } = { ...dry, dagId: "dag", user: USER, runIds: [] };
    const between = await clearTasks(db, versions, { ...byDate, from: day(2), to: day(3) });
    expect(names(between.tasks)).toEqual(["r2 load", "r3 load"]);
    expect(names((await clearTasks(db, versions, byDate)).tasks)).toEqual(["r1 load", "r2 load", "r3 load"]);
  });

  test("some instances of a mapped task, and all of the others", async () => {
    const [id] = await seed([FAILED]);
    await db.read(
      `insert into task_instance (id, task_id, dag_id, run_id, dag_run_id, map_index, state, run_after, epoch)
       select gen_random_uuid(), 'load', 'dag', 'r1', $1::int8, i, 'failed', now(), 1 from generate_series(0, 2) i`,
      [id],
    );
    const { tasks } = await clear({ taskIds: ["load"], downstream: true, mapIndexes: { load: [1] }, dryRun: true });
    expect(tasks.map((task) => `${task.taskId} ${task.mapIndex}`).sort()).toEqual(["clean -1", "load 1", "report -1"]);
  });

  test("in a mapped group what has the same index, and all instances wherever a way leads out of the group", async () => {
    const mapping = { kind: "expand", lists: [] } as const;
    const dag = await seedDag(
      db,
      "mapped",
      {
        a: { mapGroupId: "g" },
        b: { mapGroupId: "g", upstream: ["a"] },
        c: { mapGroupId: "g", upstream: ["b"] },
        outside: { upstream: ["a"], mapping },
        again: { mapGroupId: "g", upstream: ["c", "outside"] },
      },
      {},
      [{ groupId: "g", mapping }],
    );
    const mapped = await seedRun(db, dag, "r1");
    for (const id of ["a", "b", "c", "outside", "again"])
      for (const map_index of [0, 1]) await seedTask(db, mapped, id, { state: "success", map_index });
    const chosen = async (given: Partial<ClearRequest>) =>
      (await clear({ dagId: "mapped", dryRun: true, ...given })).tasks
        .map((task) => `${task.taskId} ${task.mapIndex}`)
        .sort()
        .join();
    const b1 = { taskIds: ["b"], mapIndexes: { b: [1] } };
    expect(await chosen(b1)).toBe("b 1");
    expect(await chosen({ ...b1, downstream: true })).toBe("again 1,b 1,c 1");
    expect(await chosen({ ...b1, upstream: true })).toBe("a 1,b 1");
    const a0 = { taskIds: ["a"], mapIndexes: { a: [0] }, downstream: true };
    expect(await chosen(a0)).toBe("a 0,again 0,again 1,b 0,c 0,outside 0,outside 1");
  });

  test.each([
    [{ dagId: "nope" }, "DAG_NOT_FOUND"],
    [{ runIds: ["nope"] }, "RUN_NOT_FOUND"],
    [{ taskIds: ["nope"] }, "TASK_NOT_FOUND"],
  ])("nothing that is not there: %j", async (given, code) => {
    await seed([{}]);
    await expect(clear(given)).rejects.toMatchObject({ code });
  });
});

describe("a cleared task instance", () => {
  test("starts afresh under a new id with all its retries, and its attempt is in the history once", async () => {
    await seed([{ extract: { state: "failed", try_number: 3, max_tries: 2, state_reason: "no", hostname: "h" } }]);
    const before = await row("extract");
    await clear({ taskIds: ["extract"] });
    const after = await row("extract");
    expect(after).toMatchObject({ state: null, try_number: 3, max_tries: 5, hostname: null, state_reason: null });
    expect(after["id"]).not.toBe(before["id"]);
    expect(after["epoch"]).toBe(Number(before["epoch"]) + 1);
    const kept = await db.read("select task_instance_id, try_number, state from task_instance_history");
    expect(kept).toEqual([{ task_instance_id: before["id"], try_number: 3, state: "failed" }]);
    await clear({ taskIds: ["extract"] });
    expect(await db.read("select from task_instance_history")).toHaveLength(1);
  });

  test("that a worker has is asked to stop, and keeps its id until it has", async () => {
    await seed([{ load: "running" }], ["running"]);
    const before = await row("load");
    const { stopped } = await clear({ taskIds: ["load"] });
    expect(stopped).toEqual([before["id"]]);
    expect(await row("load")).toMatchObject({ id: before["id"], state: "restarting", state_reason: "cleared by ada" });
  });

  test("that a worker has is refused when running tasks are to be left alone, and nothing else is cleared", async () => {
    await seed([{ load: "running", extract: "failed" }], ["running"]);
    const before = await states();
    await expect(clear({ preventRunningTask: true })).rejects.toMatchObject({ code: "TASK_RUNNING" });
    expect(await states()).toEqual(before);
    expect(await run()).toMatchObject({ clear_number: 0 });
  });
});

describe("the run of what is cleared", () => {
  test("is queued again from the beginning when it had ended", async () => {
    await seed([FAILED]);
    const { dagRunIds } = await clear({ onlyFailed: true });
    expect(await run()).toMatchObject({ state: "queued", start_date: null, end_date: null, clear_number: 1 });
    expect(dagRunIds).toEqual([(await run())["id"]]);
  });

  test("goes on when it runs, with the start that it had", async () => {
    await seed([FAILED], ["running"]);
    await clear({ onlyFailed: true });
    expect(await run()).toMatchObject({ state: "running", start_date: day(1), clear_number: 1 });
  });

  test("stays as it is when it is to stay", async () => {
    await seed([FAILED]);
    await clear({ onlyFailed: true, resetDagRuns: false });
    expect(await run()).toMatchObject({ state: "failed", clear_number: 0 });
    expect(await states()).toMatchObject({ load: "none", report: "none" });
  });

  test("and the active run after it are to be looked at", async () => {
    const [first, second] = await seed([FAILED, {}], ["failed", "queued"]);
    expect((await clear({ onlyFailed: true })).dagRunIds).toEqual([first, second]);
  });
});

test("a dry run says what it would change, and changes nothing", async () => {
  await seed([FAILED]);
  const before = [await states(), await run()];
  expect(await cleared({ dryRun: true, onlyFailed: true })).toEqual(["r1 load", "r1 report"]);
  expect([await states(), await run()]).toEqual(before);
  expect(await log()).toEqual([]);
});

test("a clear is in the audit log once, whatever it is about", async () => {
  await seed([FAILED, FAILED]);
  await clear({ onlyFailed: true });
  await clear({ runIds: ["r2"], taskIds: ["load"] });
  await clear({ runIds: ["r2"], pattern: /^nothing$/ });
  expect(await log()).toEqual([
    { event: "clear", dag_id: "dag", run_id: "r1", task_id: null, owner: USER, extra: "r1: load, r1: report" },
    { event: "clear", dag_id: "dag", run_id: "r2", task_id: "load", owner: USER, extra: "r2: load" },
  ]);
  expect(await db.read("select distinct actor from task_instance_transition")).toEqual([{ actor: USER }]);
});

describe("a recursive clear", () => {
  const marker = (dagId: string, taskId: string, recursionDepth = 10) => ({
    externalTaskMarker: { dagId, taskId, recursionDepth },
  });
  const other = async (dagId: string, tasks: Parameters<typeof seedDag>[2]) => {
    const id = await seedRun(db, await seedDag(db, dagId, tasks), "theirs", { state: "success" });
    await db.read("update dag_run set logical_date = $2 where id = $1", [id, day(1)]);
    for (const taskId of Object.keys(tasks ?? {})) await seedTask(db, id, taskId, { state: "success", try_number: 1 });
  };
  const WITH_MARKER = { load: {}, mark: { upstream: ["load"], ...marker("other", "wait") } };

  test("goes on behind markers at the same logical date, and further; without it they are nothing special", async () => {
    await seed([{}, {}], [], WITH_MARKER);
    await other("other", { before: {}, wait: {}, after: { upstream: ["wait"], ...marker("third", "wait") } });
    await other("third", { wait: {} });
    const load = { taskIds: ["load"], downstream: true };
    expect(await cleared({ ...load, dryRun: true })).toEqual(["r1 load", "r1 mark"]);
    const all = ["r1 load", "r1 mark", "theirs after", "theirs wait", "theirs wait"];
    expect(await cleared({ ...load, recursive: true, dryRun: true })).toEqual(all);
    const operated = await clear({ ...load, recursive: true });
    expect(names(operated.tasks)).toEqual(all);
    expect(operated.dagRunIds).toHaveLength(3);
    expect(await states("theirs")).toMatchObject({ before: "success", after: "none", wait: "none" });
    expect((await log()).map((row) => row["dag_id"])).toEqual(["dag", "other", "third"]);
    expect(await states("r2")).toEqual({ load: "success", mark: "success" });
  });

  test("ends in a circle, and is refused where markers go deeper than they say", async () => {
    await seed([{}], [], { load: {}, mark: { upstream: ["load"], ...marker("other", "wait", 1) } });
    await other("other", { wait: {}, back: { upstream: ["wait"], ...marker("dag", "load") } });
    const load = { taskIds: ["load"], downstream: true, recursive: true };
    await expect(clear(load)).rejects.toMatchObject({ code: "MARKERS_TOO_DEEP" });
    await db.read(
      "update serialized_dag set data = replace(data::text, '\"recursionDepth\": 1,', '\"recursionDepth\": 5,')::jsonb",
    );
    await db.read(
      "update serialized_dag set data = replace(data::text, '\"recursionDepth\": 1}', '\"recursionDepth\": 5}')::jsonb",
    );
    const fresh = new DagVersions(db);
    const again = await clearTasks(db, fresh, { dagId: "dag", runIds: ["r1"], user: USER, ...load });
    expect(new Set(names(again.tasks))).toEqual(new Set(["r1 load", "r1 mark", "theirs back", "theirs wait"]));
  });
});
