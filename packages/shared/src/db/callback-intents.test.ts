import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { createLogger } from "../observability/index.ts";
import {
  applyDecisions,
  clearAttempts,
  confirmStopped,
  Database,
  defineStatement,
  failUnclaimedAttempts,
  finishAttempts,
  finishRuns,
  markAttempts,
  markRuns,
  newId,
  requeueRuns,
  retryAttempts,
  startRuns,
  stopAttempts,
  type Queryable,
} from "./index.ts";

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 3, maxRetries: 0, log });
afterAll(() => db.close());

const VERSION = "00000000-0000-7000-8000-00000000000a";
const ALL = "{onExecute,onSuccess,onFailure,onRetry,onSkipped}";
const callbacksOff = defineStatement<readonly [], never>({
  name: "test-callbacks-off",
  sql: "select set_config('millrace.run_callbacks', 'off', true)",
});

beforeEach(async () => {
  await database.reset();
  await db.read(`insert into dag (dag_id, is_paused, bundle_name, max_active_tasks, max_active_runs)
    values ('etl', false, 'dags-folder', 16, 16)`);
  await db.read(`insert into dag_artifact (hash, code, source_map) values ('h1', '', '')`);
  await db.read(`insert into dag_version (id, dag_id, bundle_name, artifact_hash)
    values ('${VERSION}', 'etl', 'dags-folder', 'h1')`);
  await db.read(`insert into dag_run (dag_id, run_id, run_type, state, run_after, created_dag_version_id, callbacks)
    values ('etl', 'r', 'manual', 'running', now(), '${VERSION}', '{onSuccess,onFailure}')`);
});

/** A task instance in a state, with every kind of callback unless told otherwise. */
async function instance(state: string | null, callbacks = ALL): Promise<{ id: string; epoch: number }> {
  const id = newId();
  await db.read(
    `insert into task_instance (id, task_id, dag_id, run_id, dag_run_id, state, epoch, try_number, max_tries, run_after,
       start_date, queued_dttm, priority_weight, dag_version_id, callbacks)
     select $1, 't' || (select count(*) from task_instance), dag_id, run_id, id, $2, 5, 1, 2, now(), now(),
       now() - interval '1 hour', 7, created_dag_version_id, $3 from dag_run`,
    [id, state, callbacks],
  );
  return { id, epoch: 5 };
}

interface Intent {
  readonly kind: string;
  readonly ti: string | null;
  readonly reason: string | null;
}
const intents = (): Promise<Intent[]> =>
  db.read(`select kind, ti_id as ti, data->>'reason' as reason from callback order by created_at`);

type Ti = { readonly id: string; readonly epoch: number };
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
        task_id: "t0",
        map_index: -1,
        try_number: 1,
        priority_weight: 7,
        bundle_name: "dags-folder",
        artifact_hash: "h1",
        attempts: 0,
        data: { versionId: VERSION, maxTries: 2, reason: "TypeError: no rows" },
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
      await tx.run(callbacksOff, []);
      await mark(waiting, "failed", tx);
      await stop(running, "shutdown", "failed", tx);
      await tx.run(markRuns, [await runIds(), "failed", "marked failed by ada"]);
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
      await tx.run(callbacksOff, []);
      await stop(ti, "shutdown", "failed", tx);
    });
    await stop(ti, "shutdown", "success");
    await confirm(ti);
    expect((await intents()).map((intent) => intent.kind)).toEqual(["onSuccess"]);
  });
});

const runIds = async () => (await db.read<{ id: number }>("select id from dag_run")).map((run) => run.id);

describe("a run's intent", () => {
  it.each([
    ["success", "success", "dagOnSuccess"],
    ["failed", "task_failure", "dagOnFailure"],
    ["failed", "all_tasks_deadlocked", "dagOnFailure"],
  ])("is made with the verdict %s, its reason %s", async (state, reason, kind) => {
    await db.run(finishRuns, [await runIds(), [state], [reason]]);
    await db.run(finishRuns, [await runIds(), [state], [reason]]);
    expect(await intents()).toEqual([{ kind, ti: null, reason }]);
    expect(await db.read(`select state_reason, artifact_hash from dag_run, callback`)).toEqual([
      { state_reason: reason, artifact_hash: "h1" },
    ]);
  });

  it("is made once by a timeout, by a mark and by hand, with the reason", async () => {
    await db.run(markRuns, [await runIds(), "failed", "timed_out"]);
    await db.run(markRuns, [await runIds(), "success", "marked success by ada"]);
    await db.read(`update dag_run set state = 'failed'`);
    expect(await intents()).toEqual([
      { kind: "dagOnFailure", ti: null, reason: "timed_out" },
      { kind: "dagOnSuccess", ti: null, reason: "marked" },
    ]);
  });

  it("is made again for the verdict after a clear, or after it was queued anew", async () => {
    const ids = await runIds();
    const verdict = async () => {
      await db.run(startRuns, [ids]);
      await db.run(finishRuns, [ids, ids.map(() => "failed"), ids.map(() => "task_failure")]);
    };
    await verdict();
    await db.run(requeueRuns, [ids]);
    await verdict();
    await db.run(markRuns, [ids, "queued", "queued by ada"]);
    await verdict();
    expect((await intents()).map((intent) => [intent.kind, intent.reason])).toEqual(
      Array.from({ length: 3 }, () => ["dagOnFailure", "task_failure"]),
    );
  });

  it("is made for the callbacks that the DAG has, and goes with the run", async () => {
    await db.read(`update dag_run set callbacks = '{onSuccess}'`);
    await db.read(`update dag_run set state = 'failed'`);
    expect(await intents()).toEqual([]);
    await db.read(`update dag_run set state = 'success'`);
    expect(await intents()).toEqual([{ kind: "dagOnSuccess", ti: null, reason: "marked" }]);
    await db.read(`delete from dag_run`);
    expect(await intents()).toEqual([]);
  });
});
