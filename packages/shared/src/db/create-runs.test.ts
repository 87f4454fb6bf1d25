import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { dagSpec, taskSpec } from "../model/fixtures/dag.ts";
import { buildDagGraph } from "../model/index.ts";
import { openDatabase, seedDag, type SeededDag } from "./fixtures/seed.ts";
import { createRuns, DagVersions, triggerRun, type NewRun, type TriggerRequest } from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url, { maxConnections: 10 });
afterAll(() => db.close());

const daily = { kind: "cron", cron: "0 0 * * *", timezone: "UTC", dst: { gap: "shift", fold: "first" } } as const;
const DAY = Date.UTC(2026, 0, 1);

let dag: SeededDag;
let versions: DagVersions;
beforeEach(async () => {
  await database.reset();
  versions = new DagVersions(db);
  dag = await seedDag(
    db,
    "dag",
    { a: { retries: 2 }, b: { upstream: ["a"], pool: "p", poolSlots: 2, queue: "q" } },
    { schedule: daily },
  );
});

const newRun = (given: Partial<NewRun> = {}): NewRun => ({
  graph: buildDagGraph(dag.spec),
  versionId: dag.versionId,
  runId: "scheduled__1",
  runType: "scheduled",
  logicalDate: DAY,
  interval: { start: DAY, end: DAY + 86_400_000 },
  runAfter: null,
  conf: {},
  triggeredBy: "timetable",
  user: null,
  ...given,
});
const trigger = (given: Partial<TriggerRequest> = {}) =>
  triggerRun(db, versions, { dagId: "dag", triggeredBy: "rest_api", user: "ada", ...given });
const runs = () => db.read<Record<string, unknown>>("select * from dag_run order by id");

describe("a run", () => {
  test("is created queued, with a task instance for each of its tasks, as its version says", async () => {
    const [created] = await createRuns(db, [newRun()]);
    expect(created).toMatchObject({ dagId: "dag", runId: "scheduled__1", runAfter: new Date(DAY + 86_400_000) });
    expect(await runs()).toMatchObject([
      {
        state: "queued",
        run_type: "scheduled",
        triggered_by: "TIMETABLE",
        created_dag_version_id: dag.versionId,
        start_date: null,
      },
    ]);
    expect(
      await db.read(
        "select task_id, state, epoch, try_number, max_tries, pool, pool_slots, queue, lane, priority_weight, logical_date, dag_version_id from task_instance order by task_id",
      ),
    ).toEqual([
      {
        task_id: "a",
        state: null,
        epoch: 0,
        try_number: 0,
        max_tries: 2,
        pool: "default_pool",
        pool_slots: 1,
        queue: "default",
        lane: "",
        priority_weight: 2,
        logical_date: new Date(DAY),
        dag_version_id: dag.versionId,
      },
      {
        task_id: "b",
        state: null,
        epoch: 0,
        try_number: 0,
        max_tries: 0,
        pool: "p",
        pool_slots: 2,
        queue: "q",
        lane: "slots 2",
        priority_weight: 1,
        logical_date: new Date(DAY),
        dag_version_id: dag.versionId,
      },
    ]);
  });

  test("that exists, by id or by the date of its schedule, is left alone and gets nothing twice", async () => {
    await createRuns(db, [newRun()]);
    expect(
      await createRuns(db, [
        newRun(),
        newRun({ runId: "scheduled__2" }),
        newRun({ runId: "backfill__1", runType: "backfill" }),
      ]),
    ).toEqual([]);
    expect(await db.read("select count(*)::int as n from task_instance")).toEqual([{ n: 2 }]);
  });

  test("of a schedule is created once by many at once", async () => {
    const created = await Promise.all(
      Array.from({ length: 8 }, () => db.transaction((tx) => createRuns(tx, [newRun()]))),
    );
    expect(created.flat()).toHaveLength(1);
    expect(await db.read("select count(*)::int as n from task_instance")).toEqual([{ n: 2 }]);
  });

  test("leaves out tasks whose own dates exclude it, except in a backfill and without a logical date", async () => {
    const graph = buildDagGraph(
      dagSpec(
        [
          taskSpec("always"),
          taskSpec("later", { startDate: "2026-02-01T00:00:00Z" }),
          taskSpec("before", { endDate: "2025-12-31T00:00:00Z" }),
        ],
        { dagId: "dag" },
      ),
    );
    const tasksOf = async (given: Partial<NewRun>) => {
      const [run] = await createRuns(db, [newRun({ graph, ...given })]);
      return (
        await db.read<{ task_id: string }>("select task_id from task_instance where dag_run_id = $1 order by 1", [
          run?.id,
        ])
      ).map((row) => row.task_id);
    };
    expect(await tasksOf({ runId: "s" })).toEqual(["always"]);
    expect(await tasksOf({ runId: "bound", logicalDate: Date.UTC(2026, 1, 1) })).toEqual(["always", "later"]);
    expect(await tasksOf({ runId: "b", runType: "backfill", logicalDate: DAY + 1 })).toEqual([
      "always",
      "before",
      "later",
    ]);
    expect(await tasksOf({ runId: "m", runType: "manual", logicalDate: null, interval: null })).toEqual([
      "always",
      "before",
      "later",
    ]);
  });
});

describe("a triggered run", () => {
  test("has the time of the request as its logical date, the latest complete interval, and an id of its own", async () => {
    const { runId } = await trigger({ conf: { n: 1 } });
    expect(runId).toMatch(/^manual__\d{4}-\d\d-\d\dT[\d:.]+Z_[0-9a-f]{8}$/);
    const [run] = await runs();
    expect(run).toMatchObject({
      run_type: "manual",
      conf: { n: 1 },
      triggered_by: "REST_API",
      triggering_user_name: "ada",
      state: "queued",
    });
    const [start, end, date] = ["data_interval_start", "data_interval_end", "logical_date"].map((name) =>
      Number(run?.[name]),
    ) as [number, number, number];
    expect(end - start).toBe(86_400_000);
    expect(date).toBeGreaterThanOrEqual(end);
    expect(date - end).toBeLessThan(86_400_000);
  });

  test("may be without a logical date, many times", async () => {
    await trigger({ logicalDate: null });
    await trigger({ logicalDate: null });
    expect(await runs()).toMatchObject([{ logical_date: null, data_interval_start: null }, { logical_date: null }]);
  });

  test("thirty times at once is thirty runs, also for one logical date", async () => {
    const made = await Promise.all(
      Array.from({ length: 30 }, (_, i) => trigger(i % 2 === 0 ? {} : { logicalDate: new Date(DAY) })),
    );
    expect(new Set(made.map((run) => run.runId)).size).toBe(30);
    expect(await runs()).toHaveLength(30);
  });

  test("never stands in the way of the schedule's run for its date, nor the other way round", async () => {
    await trigger({ logicalDate: new Date(DAY) });
    expect(await createRuns(db, [newRun()])).toHaveLength(1);
    await trigger({ logicalDate: new Date(DAY) });
    expect((await runs()).map((run) => run["run_type"])).toEqual(["manual", "scheduled", "manual"]);
  });

  test("in the future waits for its date", async () => {
    const later = new Date(Date.now() + 3_600_000);
    await trigger({ logicalDate: later });
    expect((await runs())[0]).toMatchObject({ run_after: later });
  });

  test("under an id that is taken is refused", async () => {
    await trigger({ runId: "mine" });
    await expect(trigger({ runId: "mine" })).rejects.toMatchObject({ code: "RUN_EXISTS", httpStatus: 409 });
  });

  test.each(["scheduled__2026", "backfill__x", "asset_triggered__x", "a..b", "a b", "ü", "", "x".repeat(251)])(
    "may not be named %j",
    async (runId) => {
      await expect(trigger({ runId })).rejects.toMatchObject({ code: "RUN_ID_INVALID" });
    },
  );

  test.each([
    [[1]],
    ["text"],
    [5],
    [{ zero: "a\u0000b" }],
    [{ "key\u0000": 1 }],
    [{ half: "\ud800" }],
    [{ list: ["\udc00x"] }],
  ])("is refused with a conf of %j", async (conf) => {
    await expect(trigger({ conf })).rejects.toMatchObject({ code: "RUN_CONF_INVALID", httpStatus: 422 });
    expect(await runs()).toEqual([]);
  });

  test.each([[{ text: "C:\\u0000" }], [{ pair: "😀" }], [{}], [null], [undefined]])(
    "is accepted with a conf of %j",
    async (conf) => {
      await trigger({ conf });
      expect((await runs())[0]).toMatchObject({ conf: conf ?? {} });
    },
  );

  test("of a DAG that is not there, stale, broken or never read is refused by name", async () => {
    await expect(trigger({ dagId: "nope" })).rejects.toMatchObject({ code: "DAG_NOT_FOUND" });
    await db.read("update dag set has_import_errors = true, relative_fileloc = 'dag.ts'");
    await expect(trigger()).rejects.toMatchObject({ code: "DAG_HAS_IMPORT_ERROR", values: { file: "dag.ts" } });
    await db.read("update dag set has_import_errors = false, is_stale = true");
    await expect(trigger()).rejects.toMatchObject({ code: "DAG_STALE" });
  });
});

test("versions are read once and the oldest are forgotten first", async () => {
  const other = await seedDag(db, "other");
  const small = new DagVersions(db, 1);
  const [first] = (await small.load([dag.versionId])).values();
  expect((await small.load([dag.versionId, dag.versionId])).get(dag.versionId)).toBe(first);
  expect([...(await small.load([other.versionId, "00000000-0000-7000-8000-000000000000"])).keys()]).toEqual([
    other.versionId,
  ]);
  expect((await small.load([dag.versionId])).get(dag.versionId)).not.toBe(first);
});
