// Several schedulers queue at the same time what random loads hold, while workers take and end it. Every limit is asked for
// in each committed snapshot that an onlooker gets, and once more along the transition log.
import { testDatabase } from "@millrace/testkit";
import { claimAttempts, DagVersions, finishAttempts, newId, type Database } from "@millrace/shared/db";
import type { DagSpec } from "@millrace/sdk/spec";
import { afterAll, expect, test } from "vitest";
import { queueScheduledTasks } from "../critical-section/queue-scheduled-tasks.ts";
import { startQueuedRuns } from "../runs/start-queued-runs.ts";
import { specOf } from "./fixtures/draw-world.ts";
import { loadOf, overLimit, PARALLELISM, replay } from "./fixtures/limits.ts";
import { config, openDatabase, Product, quiet } from "./fixtures/product.ts";
import { randomOf, type Random } from "./fixtures/random.ts";
import { smallWorld } from "./fixtures/small-dag.ts";

const LOADS = 12;
const MOST_ROUNDS = 400;
const SCHEDULERS = 3;

const database = await testDatabase();
const db = openDatabase(database.url);
const schedulers = Array.from({ length: SCHEDULERS }, () => {
  // One for its transaction, one to read versions meanwhile.
  const own = openDatabase(database.url, 2);
  return { db: own, versions: new DagVersions(own) };
});
const worker = openDatabase(database.url, 1);
const onlooker = openDatabase(database.url, 1);
afterAll(async () => {
  await Promise.all([db, worker, onlooker, ...schedulers.map((one) => one.db)].map((one) => one.close()));
});

const limited = {
  ...config,
  core: { ...config.core, parallelism: PARALLELISM },
  scheduler: { ...config.scheduler, max_tis_per_query: 5 },
};

async function seed(random: Random): Promise<readonly DagSpec[]> {
  await database.reset();
  const ids = Array.from({ length: 6 }, (_, i) => `t${i}`);
  const dags = ["one", "two", "three"].map((dagId) => {
    const world = smallWorld(Object.fromEntries(ids.map((id) => [id, {}])), { dagId });
    return loadOf(random, { ...specOf(world, random), maxActiveRuns: 4 });
  });
  const product = new Product(db);
  // Before the pools: it lifts the limits of those that are there.
  await product.seed(dags.map((spec) => ({ spec, runIds: ["run0", "run1", "run2"] })));
  await db.read("insert into slot_pool (pool, slots) values ('narrow', $1), ('wide', $2)", [
    2 + random.integer(3),
    3 + random.integer(5),
  ]);
  await db.read("update dag set max_active_tasks = 3 + length(dag_id) % 3");
  await product.transact(startQueuedRuns);
  return dags;
}

/**
 * Takes some of what is queued and ends some of what runs, and has other tasks come first from now on, so that schedulers
 * which read at different times pick differently. True while anything is left.
 */
async function work(on: Database, random: Random): Promise<boolean> {
  const rows = await on.read<{ id: string; epoch: number; state: string }>(
    "select id, epoch, state from task_instance where state in ('scheduled', 'queued', 'running') order by row_id",
  );
  const of = (state: string) =>
    random.some(
      rows.filter((row) => row.state === state),
      0.5,
    );
  const [taken, ended] = [of("queued"), of("running")];
  const ids = (some: readonly { id: string }[]) => some.map((row) => row.id);
  const epochs = (some: readonly { epoch: number }[]) => some.map((row) => row.epoch);
  await on.run(claimAttempts, [ids(taken), epochs(taken), taken.map(() => newId()), "host", "user", 1, 1]);
  const ends = ended.map(() => "success");
  await on.run(finishAttempts, [
    ids(ended),
    epochs(ended),
    ends,
    ends.map(() => null),
    [],
    [],
    [],
    ends.map(() => null),
  ]);
  await on.read("update task_instance set priority_weight = (row_id * $1) % 11 where state = 'scheduled'", [
    1 + random.integer(10),
  ]);
  return rows.length > 0;
}

test.each(Array.from({ length: LOADS }, (_, i) => i + 1))(
  "racing schedulers exceed no limit under load %i, and all of it is done",
  { timeout: 120_000 },
  async (load) => {
    const random = randomOf(load);
    const specs = await seed(random);
    let [isLeft, snapshots] = [true, 0];
    const seen: string[] = [];
    const watching = (async () => {
      for (; isLeft; snapshots++) seen.push(...(await overLimit(onlooker, specs)));
    })();
    const queueing = schedulers.map(async (own, id) => {
      while (isLeft) {
        await own.db.transaction(
          async (tx) => await queueScheduledTasks({ tx, versions: own.versions, config: limited, log: quiet }, id),
        );
      }
    });
    const working = (async () => {
      try {
        for (let round = 0; round < MOST_ROUNDS && (await work(worker, random)); round++) continue;
      } finally {
        isLeft = false;
      }
    })();
    await Promise.all([working, watching, ...queueing]);
    expect(seen).toEqual([]);
    expect(snapshots).toBeGreaterThan(5);
    expect(await db.read("select from task_instance where state is distinct from 'success'")).toEqual([]);
    expect(await replay(db, specs)).toEqual([]);
  },
);
