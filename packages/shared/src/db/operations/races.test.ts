// What people wish and what workers and schedulers write at the same moment: one comes first, the other sees it.
import { waitUntil } from "@millrace/testkit";
import { describe, expect, test } from "vitest";
import type { Queryable } from "../database.ts";
import {
  applyDecisions,
  claimAttempts,
  confirmStopped,
  finishAttempts,
  lockRuns,
  newId,
  queueTasks,
  retryAttempts,
} from "../index.ts";
import { clearTasks, markTasks } from "./index.ts";
import { history, USER } from "./fixtures/history.ts";

const { database, db, versions, seed, states, row, run, log } = await history();

const request = { dagId: "dag", runIds: ["r1"], taskIds: ["load"], user: USER };
const clear = () => clearTasks(db, versions, request);
const idOf = async () => String((await row("load"))["id"]);

const writes = {
  finish: (on: Queryable, id: string) => on.run(finishAttempts, [[id], [5], ["success"], [null], [], [], [], [null]]),
  retry: (on: Queryable, id: string) =>
    on.run(retryAttempts, [[id], [5], [newId()], [60], [false], [false], ["it failed"]]),
  claim: (on: Queryable, id: string) => on.run(claimAttempts, [[id], [5], [newId()], "h", "u", 1, 1]),
  queue: (on: Queryable, id: string) => on.run(queueTasks, [[id], [5], 1]),
};

/** Sessions that wait for a lock here; other tests share the server. */
const waiting = () =>
  db.read("select from pg_stat_activity where datname = $1 and wait_event_type = 'Lock' and state = 'active'", [
    database.name,
  ]);

/** Runs `write` in a transaction that is committed only when `wish` waits for it. */
async function duringWrite<T>(write: (tx: Queryable) => Promise<unknown>, wish: () => Promise<T>): Promise<T> {
  let wished: Promise<T> | undefined;
  await db.transaction(async (tx) => {
    await write(tx);
    wished = wish();
    await waitUntil(async () => (await waiting()).length > 0, { what: "the wish waits" });
  });
  if (wished === undefined) throw new Error("nothing was wished");
  return await wished;
}

describe("a clear that comes while a worker or scheduler writes", () => {
  test.each([
    ["running", "finish", "none"],
    ["running", "retry", "none"],
    ["queued", "claim", "restarting"],
    ["scheduled", "queue", "none"],
  ] as const)("%s, %s: clears what that has made of it", async (state, write, after) => {
    await seed([{ load: state, report: "none", clean: "none" }], ["running"]);
    const id = await idOf();
    const { tasks } = await duringWrite((tx) => writes[write](tx, id), clear);
    expect(tasks).toHaveLength(1);
    expect(await states()).toMatchObject({ load: after });
  });

  test("is seen by the end that comes after it: nothing of that is written, and the stop is confirmed once", async () => {
    await seed([{ load: "running" }], ["running"]);
    const id = await idOf();
    await clear();
    expect(await writes.finish(db, id)).toEqual([]);
    expect(await writes.retry(db, id)).toEqual([]);
    const confirm = () => db.run(confirmStopped, [[id], [6], [newId()], [2]]);
    const confirmed = await Promise.all([confirm(), confirm()]);
    expect(confirmed.flat()).toMatchObject([{ taskId: "load", state: "none" }]);
    expect(await row("load")).toMatchObject({ state: null, try_number: 1, max_tries: 3 });
    expect(await writes.finish(db, id)).toEqual([]);
  });

  test("a mark that comes while it ends stands", async () => {
    await seed([{ load: "running" }], ["running"]);
    const id = await idOf();
    await duringWrite(
      (tx) => writes.finish(tx, id),
      () => markTasks(db, versions, { ...request, state: "failed" }),
    );
    expect(await states()).toMatchObject({ load: "failed" });
  });
});

test("two clears at once make one new attempt and one row of history", async () => {
  await seed([{ load: "failed" }]);
  await Promise.all([clear(), clear(), clear()]);
  expect(await row("load")).toMatchObject({ state: null, try_number: 1, max_tries: 1 });
  expect(await db.read("select from task_instance_history")).toHaveLength(1);
  expect(await run()).toMatchObject({ state: "queued" });
  expect((await log()).length).toBeGreaterThan(0);
});

test("a clear waits for an examination of its run, and decisions made before it write nothing after it", async () => {
  const [dagRunId = 0] = await seed([{ load: "failed", report: "none", clean: "none" }], ["running"]);
  const report = String((await row("report"))["id"]);
  await duringWrite(
    async (tx) => {
      await tx.run(lockRuns, [[dagRunId]]);
      await tx.run(applyDecisions, [[report], [5], ["none"], ["upstream_failed"]]);
    },
    () => clearTasks(db, versions, { ...request, downstream: true }),
  );
  expect(await states()).toMatchObject({ load: "none", report: "none" });
  expect(await db.run(applyDecisions, [[report], [5], ["none"], ["upstream_failed"]])).toEqual([]);
});

test("many clears, marks and ends of the same tasks leave every one in a legal state, and none waits for ever", async () => {
  const runs = Array.from({ length: 4 }, () => ({ load: "running", report: "none", clean: "none" }) as const);
  await seed(runs, ["running", "running", "running", "running"]);
  const ids = (await db.read<{ id: string }>("select id from task_instance where task_id = 'load'")).map((r) => r.id);
  const all = { dagId: "dag", user: USER, downstream: true };
  await Promise.all([
    clearTasks(db, versions, { ...all, taskIds: ["load"] }),
    markTasks(db, versions, { ...all, taskIds: ["extract"], state: "success" }),
    ...ids.toReversed().map((id) => writes.finish(db, id)),
    clearTasks(db, versions, { ...all, taskIds: ["extract"] }),
    markTasks(db, versions, { ...all, taskIds: ["report"], state: "skipped" }),
  ]);
  const left = await db.read<{ state: string }>(
    "select distinct coalesce(state, 'none') as state from task_instance where task_id = 'load'",
  );
  for (const { state } of left) expect(["none", "restarting", "shutdown", "success"]).toContain(state);
  expect(await waiting()).toEqual([]);
});
