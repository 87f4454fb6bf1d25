import type { AssetConditionSpec, DagSpec } from "@millrace/sdk/spec";
import { replanDags, setPaused, writeAssetEvents, type NewAssetEvent } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { describe, expect, test } from "vitest";
import { recordAssets } from "../dag-processor/record/record-assets.ts";
import { installation } from "../fixtures/installation.ts";
import { createAssetRuns } from "./create-asset-runs.ts";
import { createDueRuns } from "./create-due-runs.ts";
import { createPartitionRuns } from "./create-partition-runs.ts";

const world = await installation();
const { db, config, versions, broker } = world;
const log = createLogger({ level: "silent", name: "test" });

const asset = (name: string) => ({ asset: { name, uri: `x-test://${name}` } });
const named = (name: string): NewAssetEvent => ({ name, uri: `x-test://${name}` });

/** A DAG with one task that waits for assets. */
async function consumer(dagId: string, assets: AssetConditionSpec, more: { readonly maxActiveRuns?: number } = {}) {
  const spec: Partial<DagSpec> = { schedule: { kind: "assets", assets } };
  await world.seedDag(dagId, { use: {} }, { ...more, spec });
  const [row] = await db.read<{ data: DagSpec }>(`select data from serialized_dag where dag_id = $1`, [dagId]);
  if (row !== undefined) await db.transaction((tx) => recordAssets(tx, [row.data], []));
}

const emit = async (...events: readonly NewAssetEvent[]) => {
  await db.transaction((tx) => writeAssetEvents(tx, events));
  broker.wake([{ dagRunId: null, taskIds: null }]);
};

/** More than one look takes. */
const MANY = Array.from({ length: 201 }, (_, i) => `a${i}`);

const create = () => db.transaction((tx) => createAssetRuns({ tx, versions, config, log }));

/** By run: the events that it is made of, in the order of the runs. */
const runs = async (dagId: string): Promise<number[][]> =>
  (
    await db.read<{ events: number[] }>(
      `select array(select event_id::int from dagrun_asset_event e where e.dag_run_id = r.id order by 1) as events
       from dag_run r where dag_id = $1 order by id`,
      [dagId],
    )
  ).map((row) => row.events);
const queued = () => world.count("asset_dag_run_queue");

describe("a run of assets", () => {
  test("has no logical date, is named after its type and the moment, and knows its events", async () => {
    await consumer("c", asset("a"));
    await emit(named("a"));
    expect(await create()).toMatchObject({ created: 1 });
    const [run] = await db.read(
      `select run_id, run_type, logical_date, data_interval_start, triggered_by, state from dag_run`,
    );
    expect(run).toMatchObject({
      run_id: expect.stringMatching(/^asset_triggered__\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+00:00_[0-9a-f]{8}$/),
      run_type: "asset_triggered",
      logical_date: null,
      data_interval_start: null,
      triggered_by: "ASSET",
      state: "queued",
    });
    expect(await runs("c")).toEqual([[1]]);
    expect(await queued()).toBe(0);
    expect(await create()).toMatchObject({ created: 0 });
  });

  test("waits until every part of its condition has come, and takes all that came", async () => {
    await consumer("c", { all: [asset("a"), { any: [asset("b"), asset("d")] }] });
    await emit(named("a"), named("a"));
    await emit(named("a"));
    expect(await create()).toEqual({ created: 0, waiting: false });
    await emit(named("d"));
    expect(await create()).toMatchObject({ created: 1 });
    expect(await runs("c")).toEqual([[1, 2, 3, 4]]);
    expect(await queued()).toBe(0);
  });

  test("takes the events that came while earlier ones filled max_active_runs, all at once (T1 to T4)", async () => {
    await consumer("c", asset("a"), { maxActiveRuns: 1 });
    await emit(named("a"));
    await create();
    for (let i = 0; i < 4; i++) {
      await emit(named("a"));
      expect(await create()).toEqual({ created: 0, waiting: true });
    }
    await db.read(`update dag_run set state = 'running'`);
    await db.read(`update dag_run set state = 'success'`);
    expect(await create()).toMatchObject({ created: 1 });
    expect(await runs("c")).toEqual([[1], [2, 3, 4, 5]]);
  });

  test("is not made by events of a paused DAG, which queue nothing; the next run after it has them", async () => {
    await consumer("c", asset("a"));
    await emit(named("a"));
    await create();
    await setPaused(db, "c", true, "ada");
    for (let i = 0; i < 50; i++) await emit(named("a"));
    expect(await queued()).toBe(0);
    await setPaused(db, "c", false, "ada");
    expect(await create()).toMatchObject({ created: 0 });
    await emit(named("a"));
    expect(await create()).toMatchObject({ created: 1 });
    expect((await runs("c")).map((events) => events.length)).toEqual([1, 51]);
  });

  test("is made for a DAG that has room, however many that have none come before it", async () => {
    await consumer("roomy", asset("a"));
    for (const dagId of MANY) await consumer(dagId, asset("a"), { maxActiveRuns: 1 });
    await db.read(
      `insert into dag_run (dag_id, run_id, run_type, run_after) select dag_id, 'r', 'manual', now() from dag
       where dag_id <> 'roomy'`,
    );
    await emit(named("a"));
    expect(await create()).toEqual({ created: 1, waiting: true });
    expect(await runs("roomy")).toEqual([[1]]);
  });

  test("keeps to its own: an alias, a name and a uri each mean what they say", async () => {
    await consumer("by_name", { ref: { name: "a" } });
    await consumer("by_uri", { ref: { uri: "x-test://a" } });
    await consumer("by_alias", { alias: { name: "things", group: "asset" } });
    await consumer("other", asset("b"));
    await db.read(`insert into asset (name, uri) values ('a', 'x-test://a')`);
    await emit(named("a"));
    await create();
    await emit({ ...named("late"), alias: "things", asset: { name: "late", uri: "x-test://late" } });
    await create();
    expect(await runs("by_name")).toEqual([[1]]);
    expect(await runs("by_uri")).toEqual([[1]]);
    expect(await runs("by_alias")).toEqual([[2]]);
    expect(await runs("other")).toEqual([]);
    // The asset exists now, and is active.
    await emit({ name: "late" });
    expect(await db.read(`select name from asset_active where name = 'late'`)).toHaveLength(1);
    expect(await queued()).toBe(0);
  });

  test("a DAG that is scheduled on assets no more has nothing waiting", async () => {
    await consumer("c", { all: [asset("a"), asset("b")] });
    await emit(named("a"));
    expect(await queued()).toBe(1);
    const [row] = await db.read<{ data: DagSpec }>(`select data from serialized_dag`);
    const spec: DagSpec = { ...(row as { data: DagSpec }).data, schedule: { kind: "none" } };
    await db.transaction((tx) => recordAssets(tx, [spec], []));
    expect(await queued()).toBe(0);
  });
});

describe("races", () => {
  test("an event that commits while its queue row is being consumed makes a run of its own", async () => {
    await consumer("c", asset("a"));
    await emit(named("a"));
    let late: Promise<unknown> = Promise.resolve();
    await db.transaction(async (tx) => {
      await createAssetRuns({ tx, versions, config, log });
      late = emit(named("a"));
      await world.until(
        "the event waits for the queue row",
        async () =>
          (await world.count(`pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`)) > 0,
      );
    });
    await late;
    await create();
    expect(await runs("c")).toEqual([[1], [2]]);
  });

  test("a scheduler waits for an event that is being written, and its run has it", async () => {
    await consumer("c", asset("a"));
    await emit(named("a"));
    let creating: Promise<unknown> = Promise.resolve();
    await db.transaction(async (tx) => {
      await writeAssetEvents(tx, [named("a")]);
      creating = create();
      await world.until(
        "the scheduler waits for the event",
        async () =>
          (await world.count(`pg_stat_activity where wait_event_type = 'Lock' and datname = current_database()`)) > 0,
      );
    });
    await creating;
    expect(await runs("c")).toEqual([[1, 2]]);
  });

  test("events whose numbers commit in the other order are all consumed, once each", async () => {
    await consumer("c", asset("a"));
    await emit(named("a"));
    // The number of the event is drawn before the one that follows, and its commit comes after it was consumed.
    await db.read(`select setval(pg_get_serial_sequence('asset_event', 'id'), 10)`);
    await emit(named("a"));
    await create();
    await db.read(`insert into asset_event (id, asset_id) select 5, id from asset where name = 'a'`);
    await db.read(
      `insert into asset_dag_run_queue (asset_id, target_dag_id, first_event_id) select id, 'c', 5 from asset where name = 'a'`,
    );
    await create();
    expect(await runs("c")).toEqual([[1, 11], [5]]);
  });

  test("a transaction that dies after the run was made leaves no run, and the events to the next one", async () => {
    await consumer("c", asset("a"));
    await emit(named("a"));
    await expect(
      db.transaction(async (tx) => {
        await createAssetRuns({ tx, versions, config, log });
        throw new Error("killed");
      }),
    ).rejects.toThrow("killed");
    expect(await runs("c")).toEqual([]);
    expect(await queued()).toBe(1);
    await create();
    expect(await runs("c")).toEqual([[1]]);
  });

  test("two schedulers and a hundred events: every event is in exactly one run of each consumer", async () => {
    world.onMessage(world.work);
    await consumer("one", asset("a"));
    await consumer("two", { any: [asset("a"), asset("b")] }, { maxActiveRuns: 2 });
    await Promise.all([world.startScheduler(), world.startScheduler()]);
    await Promise.all(Array.from({ length: 100 }, (_, i) => emit(i % 4 === 0 ? named("b") : named("a"))));
    await emit(named("a"));
    await world.until("all is consumed and over", async () => {
      const open = await world.count(`dag_run where state in ('queued', 'running')`);
      return (await queued()) === 0 && open === 0;
    });
    expect((await runs("one")).flat().length).toBe(75 + 1);
    const two = (await runs("two")).flat();
    expect(new Set(two).size).toBe(two.length);
    expect(two.length).toBe(101);
    expect((await runs("one")).every((events) => events.length > 0)).toBe(true);
  }, 60_000);
});

describe("a DAG of assets or time", () => {
  const time = { kind: "cron", cron: "*/5 * * * *", timezone: "UTC", dst: { gap: "shift", fold: "first" } } as const;
  const HOUR = 3_600_000;

  /** A DAG of the last two hours, whose every interval is to run, and that an asset starts as well. */
  const either = async (dagId: string, more: { readonly maxActiveRuns?: number } = {}) => {
    const startDate = new Date(Math.floor(Date.now() / HOUR - 2) * HOUR);
    const schedule = { kind: "assetOrTime", time, assets: asset("a") } as const;
    const spec = { schedule, startDate: startDate.toISOString(), catchup: true };
    await world.seedDag(dagId, { use: {} }, { ...more, spec });
    const [row] = await db.read<{ data: DagSpec }>(`select data from serialized_dag where dag_id = $1`, [dagId]);
    if (row === undefined) throw new Error("no spec");
    await db.transaction((tx) => recordAssets(tx, [row.data], []));
    await db.transaction((tx) => replanDags(tx, [dagId]));
    return startDate;
  };
  const byType = async (dagId: string) =>
    await db.read<{ run_type: string; logical: Date | null; events: number; state: string }>(
      `select run_type, logical_date as logical, state,
         (select count(*)::int from dagrun_asset_event e where e.dag_run_id = r.id) as events
       from dag_run r where dag_id = $1 order by logical_date, id`,
      [dagId],
    );

  test("runs by time without events, and by an event without a date; neither takes what is the other's", async () => {
    await either("e", { maxActiveRuns: 2 });
    await emit(named("a"));
    await db.transaction((tx) => createDueRuns({ tx, versions, config, log }));
    expect((await byType("e")).map((run) => run.run_type)).toEqual(["scheduled", "scheduled"]);
    expect(await queued()).toBe(1);
    expect(await create()).toEqual({ created: 0, waiting: true });
    await db.read(`update dag_run set state = 'running'`);
    await db.read(`update dag_run set state = 'success'`);
    const [pointer] = await db.read(`select next_dagrun from dag`);
    expect(await create()).toMatchObject({ created: 1 });
    const made = await byType("e");
    expect(made.map(({ run_type: type, events }) => [type, events])).toEqual([
      ["scheduled", 0],
      ["scheduled", 0],
      ["asset_triggered", 1],
    ]);
    expect(made[2]?.logical).toBeNull();
    expect(await db.read(`select next_dagrun from dag`)).toEqual([pointer]);
  });

  test("with two schedulers has each interval once and each event once, whatever comes between", async () => {
    world.onMessage(world.work);
    const startDate = await either("e", { maxActiveRuns: 3 });
    await Promise.all([world.startScheduler(), world.startScheduler()]);
    for (let i = 0; i < 10; i++) await Promise.all([emit(named("a")), emit(named("a")), emit(named("a"))]);
    await world.until("all intervals and events are over", async () => {
      const open = await world.count(`dag_run where state in ('queued', 'running')`);
      const due = await world.count(`dag where next_dagrun_create_after <= now()`);
      return (await queued()) === 0 && open === 0 && due === 0;
    });
    const made = await byType("e");
    const dates = made.flatMap(({ logical }) => logical?.getTime() ?? []);
    expect(dates.length).toBeGreaterThanOrEqual(24);
    expect(dates).toEqual(dates.map((_, i) => startDate.getTime() + i * 300_000));
    expect(made.filter(({ logical }) => logical !== null).every(({ events }) => events === 0)).toBe(true);
    const events = (await runs("e")).flat();
    expect(events.sort((a, b) => a - b)).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  }, 60_000);
});

describe("runs by key", () => {
  const byKey = async (dagId: string, assets: AssetConditionSpec, more: { readonly maxActiveRuns?: number } = {}) => {
    const partition = { mapper: { kind: "startOf", unit: "day" } as const, mappers: [] };
    const spec: Partial<DagSpec> = { schedule: { kind: "assets", assets, partition } };
    await world.seedDag(dagId, { use: {} }, { ...more, spec });
    await db.read(`update dag set timetable_partitioned = true where dag_id = $1`, [dagId]);
    const [row] = await db.read<{ data: DagSpec }>(`select data from serialized_dag where dag_id = $1`, [dagId]);
    if (row !== undefined) await db.transaction((tx) => recordAssets(tx, [row.data], []));
  };
  const createByKey = () => db.transaction((tx) => createPartitionRuns({ tx, versions, config, log }));
  const keys = async () =>
    (await db.read<{ partition_key: string }>(`select partition_key from dag_run order by id`)).map(
      (row) => row.partition_key,
    );
  const at = (name: string, hour: string): NewAssetEvent => ({ ...named(name), partitionKey: `2026-05-${hour}:00:00` });

  test("there is one for each mapped key for which everything has come, with the events of that key", async () => {
    await byKey("p", { all: [asset("a"), asset("b")] });
    await emit(at("a", "17T01"), at("a", "17T02"), at("a", "18T01"));
    expect(await createByKey()).toMatchObject({ created: 0 });
    await emit(at("b", "17T09"));
    expect(await createByKey()).toMatchObject({ created: 1 });
    expect(await keys()).toEqual(["2026-05-17"]);
    expect(await runs("p")).toEqual([[1, 2, 4]]);
    await emit(at("b", "18T09"), at("a", "17T03"), at("b", "17T03"));
    await createByKey();
    expect((await keys()).sort()).toEqual(["2026-05-17", "2026-05-17", "2026-05-18"]);
  });

  test("an event without a key starts none, one with a key starts nothing elsewhere, and a wrong key is told", async () => {
    await byKey("p", asset("a"));
    await consumer("c", asset("a"));
    await emit(named("a"), { ...named("a"), partitionKey: "someday" });
    await createByKey();
    await create();
    expect(await runs("p")).toEqual([]);
    expect(await runs("c")).toEqual([[1]]);
    expect(await db.read(`select event, dag_id, extra from log where event like '%partition%'`)).toMatchObject([
      { event: "failed to map partition_key", dag_id: "p" },
    ]);
    expect(await world.count("partitioned_asset_key_log")).toBe(0);
  });

  test("four producers and two schedulers at once make one run of a key, not several that wait for ever", async () => {
    await byKey("p", { all: [asset("a"), asset("b"), asset("c"), asset("d")] });
    await Promise.all([world.startScheduler(), world.startScheduler()]);
    await Promise.all(["a", "b", "c", "d"].map((name) => emit(at(name, "17T01"))));
    await world.until("the run is there", async () => (await world.count("dag_run")) > 0);
    expect(await keys()).toEqual(["2026-05-17"]);
    expect((await runs("p"))[0]).toHaveLength(4);
    expect(await world.count("asset_partition_dag_run where created_dag_run_id is null")).toBe(0);
  });

  test("a key that is complete is not kept waiting by DAGs whose keys are not", async () => {
    await byKey("last", asset("a"));
    for (const dagId of MANY) await byKey(dagId, { all: [asset("a"), asset("b")] });
    await emit(at("a", "17T01"));
    while ((await createByKey()).waiting);
    await emit(at("a", "18T01"));
    while ((await createByKey()).waiting);
    expect(await runs("last")).toEqual([[1], [2]]);
  });

  test("keys that are ready wait for room, the oldest first", async () => {
    await byKey("p", asset("a"), { maxActiveRuns: 1 });
    await emit(at("a", "17T01"), at("a", "18T01"));
    expect(await createByKey()).toMatchObject({ created: 1, waiting: true });
    expect(await keys()).toEqual(["2026-05-17"]);
    await db.read(`update dag_run set state = 'running'`);
    await db.read(`update dag_run set state = 'success'`);
    expect(await createByKey()).toEqual({ created: 1, waiting: false });
  });
});
