import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import {
  intents as intentsOf,
  openDatabase,
  seedRunWithCallbacks,
  seedTaskWithCallbacks,
  type SeededTask as Ti,
} from "./fixtures/callbacks.ts";
import {
  applyDecisions,
  clearAttempts,
  confirmStopped,
  failUnclaimedAttempts,
  finishAttempts,
  markAttempts,
  markRuns,
  newId,
  retryAttempts,
  stopAttempts,
  withoutCallbacks,
  type Queryable,
} from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url);
afterAll(() => db.close());

let runId: number;
beforeEach(async () => {
  await database.reset();
  runId = await seedRunWithCallbacks(db);
});

const intents = () => intentsOf(db);
const instance = (state: string | null, callbacks?: string) => seedTaskWithCallbacks(db, state, callbacks);

const finish = (ti: Ti, state: string, reason: string | null = null, on: Queryable = db) =>
  on.run(finishAttempts, [[ti.id], [ti.epoch], [state], [null], [], [], [], [reason]]);
const retry = (ti: Ti, free: boolean, infra: boolean, reason: string) =>
  db.run(retryAttempts, [[ti.id], [ti.epoch], [newId()], [0], [free], [infra], [reason]]);
const mark = (ti: Ti, state: string, on: Queryable = db) =>
  on.run(markAttempts, [[ti.id], [ti.epoch], [state], [`marked ${state} by ada`]]);
const stop = (ti: Ti, to: string, wish: string | null, on: Queryable = db) =>
  on.run(stopAttempts, [[ti.id], [to], [wish], [`stopped by ada`]]);
const confirm = (ti: Ti) => db.run(confirmStopped, [[ti.id], [ti.epoch + 1], [newId()], [2]]);

describe("a task's intent", () => {
  it("names the attempt, its version, weight and reason", async () => {
    const ti = await instance("running");
    await finish(ti, "failed", "TypeError: no rows");
    expect(
      await db.read(`select type, fetch_method, state, kind, ti_id, task_id, map_index, try_number, priority_weight,
        bundle_name, artifact_hash, attempts, data, trigger_id from callback`),
    ).toEqual([
      {
        type: "worker",
        fetch_method: "artifact",
        state: "pending",
        kind: "onFailure",
        ti_id: ti.id,
        task_id: expect.any(String) as string,
        map_index: -1,
        try_number: 1,
        priority_weight: 7,
        bundle_name: null,
        artifact_hash: "hash",
        attempts: 0,
        data: { versionId: expect.any(String) as string, maxTries: 2, reason: "TypeError: no rows" },
        trigger_id: null,
      },
    ]);
  });

  it("is made when its worker wrote an end, and once for each of many in one statement", async () => {
    const [a, b, c, plain] = [
      await instance("running"),
      await instance("running"),
      await instance("running"),
      await instance("running", "{}"),
    ];
    const all = [a, b, c, plain];
    await db.run(finishAttempts, [
      all.map((ti) => ti.id),
      all.map((ti) => ti.epoch),
      ["success", "failed", "skipped", "failed"],
      all.map(() => null),
      [],
      [],
      [],
      [null, "Error: x", null, "Error: y"],
    ]);
    expect((await intents()).sort((x, y) => x.kind.localeCompare(y.kind))).toEqual([
      { kind: "onFailure", ti: b.id, reason: "Error: x" },
      { kind: "onSkipped", ti: c.id, reason: null },
      { kind: "onSuccess", ti: a.id, reason: null },
    ]);
  });

  it("is made for a kind of callback that the task has, and no other", async () => {
    await finish(await instance("running", "{onExecute,onSuccess}"), "failed", "Error: x");
    await retry(await instance("running", "{onFailure}"), false, false, "Error: x");
    expect(await intents()).toEqual([]);
  });

  it("is made once, however often the same end is written and by whom", async () => {
    const ti = await instance("running");
    await finish(ti, "failed", "Error: x");
    await finish(ti, "failed", "Error: x");
    const marked = { ...ti, epoch: 6 };
    await mark(marked, "success");
    await mark({ ...ti, epoch: 7 }, "failed");
    expect((await intents()).map((intent) => intent.kind)).toEqual(["onFailure", "onSuccess"]);
  });

  it("of a retry is that of the attempt that failed, and a retry that follows has its own", async () => {
    const ti = await instance("running");
    await retry(ti, false, false, "Error: first");
    const [row] = await db.read<{ id: string; epoch: number }>(
      `update task_instance set state = 'scheduled', epoch = epoch + 1, try_number = 2 returning id, epoch`,
    );
    await db.read(`update task_instance set state = 'queued', epoch = epoch + 1`);
    await db.read(`update task_instance set state = 'running', epoch = epoch + 1`);
    await retry({ id: row?.id ?? "", epoch: 9 }, false, false, "Error: second");
    expect(await intents()).toEqual([
      { kind: "onRetry", ti: ti.id, reason: "Error: first" },
      { kind: "onRetry", ti: row?.id, reason: "Error: second" },
    ]);
    expect(row?.id).not.toBe(ti.id);
  });

  it("is made for a lost worker, but not for a worker that stopped and handed the attempt back", async () => {
    const lost = await instance("running");
    await retry(lost, true, true, "worker lost: no heartbeat");
    await retry(await instance("running"), true, false, "WorkerShutdown: the worker shut down");
    expect(await intents()).toEqual([{ kind: "onRetry", ti: lost.id, reason: "worker lost: no heartbeat" }]);
  });

  it("is made when no worker claimed the attempt in time", async () => {
    const ti = await instance("queued");
    await db.run(failUnclaimedAttempts, [60, 10]);
    expect(await intents()).toEqual([
      { kind: "onFailure", ti: ti.id, reason: "no worker of queue default claimed it within 60 s" },
    ]);
  });

  it.each([
    null,
    "scheduled",
    "queued",
    "up_for_retry",
    "deferred",
    "success",
    "upstream_failed",
    "skipped",
    "removed",
  ])("is made for a mark of a task in %s", async (from) => {
    const ti = await instance(from);
    await mark(ti, "failed");
    const other = await instance(from === "success" ? "failed" : from);
    await mark(other, "success");
    expect(await intents()).toEqual([
      { kind: "onFailure", ti: ti.id, reason: "marked failed by ada" },
      { kind: "onSuccess", ti: other.id, reason: "marked success by ada" },
    ]);
  });

  it("is made when a stopped attempt ends as it was marked, whoever finds it gone", async () => {
    const all = [await instance("running"), await instance("running"), await instance("running")];
    for (const [i, wish] of ["failed", "success", "skipped"].entries()) await stop(all[i] as Ti, "shutdown", wish);
    expect(await intents()).toEqual([]);
    for (const ti of all) await confirm(ti);
    expect(await intents()).toEqual([
      { kind: "onFailure", ti: all[0]?.id, reason: "stopped by ada" },
      { kind: "onSuccess", ti: all[1]?.id, reason: "stopped by ada" },
      { kind: "onSkipped", ti: all[2]?.id, reason: "stopped by ada" },
    ]);
  });

  it("is made for a change written by hand", async () => {
    const ti = await instance("running");
    await db.read(`update task_instance set state = 'failed', epoch = epoch + 1`);
    expect(await intents()).toEqual([{ kind: "onFailure", ti: ti.id, reason: null }]);
  });

  it("is not made by a rule or a branch, a clear, a restart, a removal or the scheduling of a task", async () => {
    const decide = async (from: string | null, to: string) => {
      const ti = await instance(from);
      const [row] = await db.run(applyDecisions, [[ti.id], [ti.epoch], [from ?? "none"], [to]]);
      expect(row?.id).toBe(ti.id);
    };
    for (const to of ["scheduled", "skipped", "upstream_failed"]) await decide(null, to);
    await mark(await instance("scheduled"), "skipped");
    const cleared = await instance("failed");
    await db.run(clearAttempts, [[cleared.id], [cleared.epoch], [newId()], [2]]);
    const restarted = await instance("running");
    await stop(restarted, "restarting", null);
    await confirm(restarted);
    await db.read(`update task_instance set state = 'removed', epoch = epoch + 1 where state = 'scheduled'`);
    expect(await intents()).toEqual([]);
  });

  it("is not made when the transaction that causes it is undone or refused", async () => {
    const ti = await instance("running");
    const undone = db.transaction(async (tx) => {
      await finish(ti, "failed", "Error: x", tx);
      throw new Error("undone");
    });
    await expect(undone).rejects.toThrow("undone");
    await expect(db.read(`update task_instance set state = 'failed', epoch = epoch + 2`)).rejects.toThrow(/epoch/);
    expect(await intents()).toEqual([]);
  });

  it("is not made for marks that asked for none, and is for the next ones on the same connection", async () => {
    const [waiting, running, next] = [await instance("queued"), await instance("running"), await instance("queued")];
    await db.transaction(async (tx) => {
      await tx.run(withoutCallbacks, []);
      await mark(waiting, "failed", tx);
      await stop(running, "shutdown", "failed", tx);
      await tx.run(markRuns, [[runId], "failed", "marked failed by ada"]);
    });
    // The worker that carries the stop out knows nothing of the wish: the row does.
    await confirm(running);
    expect(await db.read(`select state from task_instance order by task_id`)).toMatchObject([
      { state: "failed" },
      { state: "failed" },
      { state: "queued" },
    ]);
    expect(await intents()).toEqual([]);
    await mark(next, "failed");
    expect((await intents()).map((intent) => intent.ti)).toEqual([next.id]);
  });

  it("follows the last wish when an attempt is stopped twice", async () => {
    const ti = await instance("running");
    await db.transaction(async (tx) => {
      await tx.run(withoutCallbacks, []);
      await stop(ti, "shutdown", "failed", tx);
    });
    await stop(ti, "shutdown", "success");
    await confirm(ti);
    expect((await intents()).map((intent) => intent.kind)).toEqual(["onSuccess"]);
  });
});
