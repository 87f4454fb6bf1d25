import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, it } from "vitest";
import { intents as intentsOf, openDatabase, seedRunWithCallbacks } from "./fixtures/callbacks.ts";
import { finishRuns, markRuns, requeueRuns, startRuns, withoutCallbacks } from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url);
afterAll(() => db.close());

let id: number;
beforeEach(async () => {
  await database.reset();
  id = await seedRunWithCallbacks(db);
});

const intents = () => intentsOf(db);

describe("a run's intent", () => {
  it.each([
    ["success", "success", "dagOnSuccess"],
    ["failed", "task_failure", "dagOnFailure"],
    ["failed", "all_tasks_deadlocked", "dagOnFailure"],
  ])("is made with the verdict %s, its reason %s", async (state, reason, kind) => {
    await db.run(finishRuns, [[id], [state], [reason]]);
    await db.run(finishRuns, [[id], [state], [reason]]);
    expect(await intents()).toEqual([{ kind, ti: null, reason }]);
    expect(await db.read(`select state_reason, artifact_hash from dag_run, callback`)).toEqual([
      { state_reason: reason, artifact_hash: "hash" },
    ]);
  });

  it("is made once by a timeout, by a mark and by hand, with the reason", async () => {
    await db.run(markRuns, [[id], "failed", "timed_out"]);
    await db.run(markRuns, [[id], "success", "marked success by ada"]);
    await db.read(`update dag_run set state = 'failed'`);
    expect(await intents()).toEqual([
      { kind: "dagOnFailure", ti: null, reason: "timed_out" },
      { kind: "dagOnSuccess", ti: null, reason: "marked" },
    ]);
  });

  it("is made again for the verdict after a clear, or after it was queued anew", async () => {
    const verdict = async () => {
      await db.run(startRuns, [[id]]);
      await db.run(finishRuns, [[id], ["failed"], ["task_failure"]]);
    };
    await verdict();
    await db.run(requeueRuns, [[id]]);
    await verdict();
    await db.run(markRuns, [[id], "queued", "queued by ada"]);
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

  it("is not made for a mark that asked for none", async () => {
    await db.transaction(async (tx) => {
      await tx.run(withoutCallbacks, []);
      await tx.run(markRuns, [[id], "failed", "marked by ada"]);
    });
    expect(await intents()).toEqual([]);
  });
});
