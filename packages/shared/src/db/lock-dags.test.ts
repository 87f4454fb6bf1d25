// Two schedulers at the same rows: each takes what the other has not, and nobody exceeds a DAG's limit.
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { openDatabase, seedDag, seedRun, seedTask } from "./fixtures/seed.ts";
import {
  lockDagsToStart,
  lockDueDags,
  lockLostAttempts,
  lockRunsToSweep,
  noteCannotStart,
  runsToStart,
  runsWithDueTasks,
  startRuns,
} from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url);
afterAll(() => db.close());
beforeEach(() => database.reset());

const PAST = new Date("2026-01-01T00:00:00Z");
const due = (dagId: string, after = PAST) =>
  db.read(
    `update dag set next_dagrun = $2, next_dagrun_data_interval_start = $2, next_dagrun_data_interval_end = $2, next_dagrun_create_after = $2 where dag_id = $1`,
    [dagId, after],
  );
const ids = (rows: readonly { readonly dagId: string }[]) => rows.map((row) => row.dagId);

describe("DAGs whose run is due", () => {
  test("are those that are live and have room, the longest due first, with that room", async () => {
    const later = new Date("2026-01-02T00:00:00Z");
    for (const dagId of ["second", "first", "paused", "stale", "broken", "full", "future", "unplanned"]) {
      const dag = await seedDag(db, dagId, {}, { maxActiveRuns: 2 });
      if (dagId !== "unplanned") await due(dagId, dagId === "first" ? PAST : later);
      for (const state of dagId === "full" ? ["queued", "running"] : []) await seedRun(db, dag, state, { state });
      if (dagId === "first") await seedRun(db, dag, "busy", { state: "running" });
      if (dagId === "first") await seedRun(db, dag, "backfill", { state: "running", runType: "backfill" });
    }
    await due("future", new Date(Date.now() + 3_600_000));
    await db.read(
      "update dag set is_paused = dag_id = 'paused', is_stale = dag_id = 'stale', has_import_errors = dag_id = 'broken'",
    );
    const locked = await db.run(lockDueDags, [10]);
    expect(locked.map((dag) => [dag.dagId, dag.room])).toEqual([
      ["first", 1],
      ["second", 2],
    ]);
    expect(locked[0]).toMatchObject({ logicalDate: PAST, runAfter: PAST });
    expect(ids(await db.run(lockDueDags, [1]))).toEqual(["first"]);
  });

  test("that another scheduler has are passed by", async () => {
    for (const dagId of ["a", "b", "c"]) await seedDag(db, dagId).then(() => due(dagId));
    await db.transaction(async (one) => {
      expect(ids(await one.run(lockDueDags, [2]))).toEqual(["a", "b"]);
      await db.transaction(async (two) => expect(ids(await two.run(lockDueDags, [10]))).toEqual(["c"]));
    });
  });
});

describe("DAGs with runs to start", () => {
  test("are those with room, not paused, whose run's time has come", async () => {
    for (const dagId of ["ready", "paused", "full", "future", "idle"]) {
      const dag = await seedDag(db, dagId, {}, { maxActiveRuns: 1 });
      if (dagId === "full") await seedRun(db, dag, "busy", { state: "running" });
      const runAfter = dagId === "future" ? new Date(Date.now() + 3_600_000) : PAST;
      if (dagId !== "idle") await seedRun(db, dag, "r", { state: "queued", runAfter });
    }
    await db.read("update dag set is_paused = true where dag_id = 'paused'");
    expect(ids(await db.run(lockDagsToStart, [10, 5, []]))).toEqual(["ready"]);
  });

  test("give their oldest runs, and how many may start", async () => {
    const dag = await seedDag(db, "dag", {}, { maxActiveRuns: 3 });
    await seedRun(db, dag, "busy", { state: "running" });
    for (const day of [3, 1, 2])
      await seedRun(db, dag, `day${day}`, { state: "queued", runAfter: new Date(Date.UTC(2026, 0, day)) });
    const runs = await db.run(runsToStart, [["dag"], 0, 10, 5, []]);
    expect(runs.map((run) => `${run.runId} of ${run.room}`).sort()).toEqual(["day1 of 2", "day2 of 2"]);
  });

  test("look at a run that cannot start again after some seconds, or when it is named", async () => {
    const dag = await seedDag(db, "dag", {}, { maxActiveRuns: 1 });
    const blocked = await seedRun(db, dag, "blocked", { state: "queued", runAfter: new Date("2026-01-01T00:00:00Z") });
    await db.run(noteCannotStart, [[blocked]]);
    expect(await db.run(lockDagsToStart, [10, 5, []])).toEqual([]);
    expect(await db.run(lockDagsToStart, [10, 0, []])).toEqual([{ dagId: "dag" }]);
    expect(await db.run(lockDagsToStart, [10, 5, [blocked]])).toEqual([{ dagId: "dag" }]);
    await seedRun(db, dag, "other", { state: "queued", runAfter: new Date("2026-01-02T00:00:00Z") });
    const due = async (named: readonly number[]) =>
      (await db.run(runsToStart, [["dag"], 5, 10, 5, named])).map((run) => run.runId);
    expect(await due([])).toEqual(["other"]);
    expect(await due([blocked])).toEqual(["blocked", "other"]);
  });

  test("never start more than max_active_runs, with several schedulers at it", async () => {
    const dag = await seedDag(db, "dag", {}, { maxActiveRuns: 3 });
    for (let i = 0; i < 20; i++) await seedRun(db, dag, `r${i}`, { state: "queued" });
    const schedule = async () => {
      for (let round = 0; round < 6; round++) {
        await db.transaction(async (tx) => {
          const dags = await tx.run(lockDagsToStart, [10, 5, []]);
          if (dags.length === 0) return;
          const runs = await tx.run(runsToStart, [ids(dags), 50, 200, 5, []]);
          await tx.run(startRuns, [runs.slice(0, runs[0]?.room ?? 0).map((run) => run.id)]);
        });
      }
    };
    await Promise.all([schedule(), schedule(), schedule(), schedule()]);
    expect(await db.read("select count(*)::int as n from dag_run where state = 'running'")).toEqual([{ n: 3 }]);
  });
});

test("runs that were not examined for the longest time are swept first, each by one scheduler", async () => {
  const dag = await seedDag(db, "dag");
  for (const id of ["a", "b", "c"]) await seedRun(db, dag, id);
  await seedRun(db, dag, "queued", { state: "queued" });
  await db.read("update dag_run set last_scheduling_decision = now() - interval '1 hour' where run_id = 'b'");
  await db.read("update dag_run set last_scheduling_decision = now() where run_id = 'c'");
  await db.transaction(async (one) => {
    expect((await one.run(lockRunsToSweep, [5, 1])).map((run) => run.runId)).toEqual(["a"]);
    await db.transaction(async (two) =>
      expect((await two.run(lockRunsToSweep, [5, 10])).map((run) => run.runId)).toEqual(["b"]),
    );
  });
  expect(await db.run(lockRunsToSweep, [5, 10])).toEqual([]);
});

test("task instances whose delay is over are named, the longest over first", async () => {
  const run = await seedRun(db, await seedDag(db, "dag"), "r");
  const at = (seconds: number) => new Date(Date.now() + seconds * 1000);
  await seedTask(db, run, "later", { state: "up_for_retry", retry_at: at(3_600) });
  await seedTask(db, run, "second", { state: "up_for_reschedule", retry_at: at(-3_600) });
  await seedTask(db, run, "first", { state: "up_for_retry", retry_at: at(-7_200) });
  await seedTask(db, run, "done", { state: "success", retry_at: at(-7_200) });
  expect((await db.run(runsWithDueTasks, [10])).map((row) => row.taskId)).toEqual(["first", "second"]);
});

test("an attempt that fell silent is judged by one scheduler, and none before the server is up for one lease", async () => {
  const run = await seedRun(db, await seedDag(db, "dag"), "r");
  const silent = { state: "running", latest_heartbeat: new Date("2020-01-01T00:00:00Z") } as const;
  await seedTask(db, run, "a", silent);
  await seedTask(db, run, "b", silent);
  await seedTask(db, run, "alive", { state: "running", latest_heartbeat: new Date(Date.now() + 1_000) });
  await db.transaction(async (one) => {
    expect(await one.run(lockLostAttempts, [0.001, 1])).toHaveLength(1);
    await db.transaction(async (two) => expect(await two.run(lockLostAttempts, [0.001, 10])).toHaveLength(1));
  });
  expect(await db.run(lockLostAttempts, [86_400, 10])).toEqual([]);
});
