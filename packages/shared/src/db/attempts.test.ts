// Every write about an attempt names its id, its epoch and the state it expects; anything else writes nothing.
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { openDatabase, seedDag, seedRun, seedTask, standings, transitions, type SeededDag } from "./fixtures/seed.ts";
import {
  claimAttempts,
  defineStatement,
  finishAttempts,
  heartbeatAttempts,
  newId,
  readAttempts,
  readClaims,
  retryAttempts,
  writeXCom,
} from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url);
afterAll(() => db.close());

let dag: SeededDag;
let run: number;
beforeEach(async () => {
  await database.reset();
  dag = await seedDag(db, "dag", { a: {} });
  run = await seedRun(db, dag, "r");
});

const OTHER = newId();
const claim = (id: string, epoch: number, token = newId(), worker = 7) =>
  db.run(claimAttempts, [[id], [epoch], [token], "host", "user", 42, worker]);
const finish = (id: string, epoch: number, state = "success", value?: string) =>
  db.run(finishAttempts, [
    [id],
    [epoch],
    [state],
    [null],
    value === undefined ? [] : [id],
    value === undefined ? [] : ["return_value"],
    value === undefined ? [] : [value],
    [null],
  ]);
const retry = (
  id: string,
  epoch: number,
  next: string,
  given: { delay?: number; free?: boolean; infra?: boolean } = {},
) =>
  db.run(retryAttempts, [
    [id],
    [epoch],
    [next],
    [given.delay ?? 60],
    [given.free ?? false],
    [given.infra ?? false],
    ["it failed"],
  ]);
const xcoms = () => db.read<{ key: string; value: unknown }>("select key, value from xcom order by key");

describe("a claim", () => {
  test("takes a queued attempt and gives all that running it needs", async () => {
    const id = await seedTask(db, run, "a", { state: "queued", try_number: 1, max_tries: 2 });
    const [attempt] = await claim(id, 5);
    expect(attempt).toMatchObject({
      id,
      epoch: 6,
      dagId: "dag",
      runId: "r",
      taskId: "a",
      mapIndex: -1,
      tryNumber: 1,
      maxTries: 2,
      versionId: dag.versionId,
      artifactHash: "hash",
      runType: "manual",
      conf: { n: 1 },
    });
    const [row] = await db.read(
      "select hostname, pid, worker_job_id, latest_heartbeat is not null as beats from task_instance",
    );
    expect(row).toMatchObject({ hostname: "host", pid: 42, worker_job_id: 7, beats: true });
  });

  test.each(["scheduled", "running", "success", "failed", "none", "restarting", "deferred"] as const)(
    "of an attempt that is %s gets nothing",
    async (state) => {
      const id = await seedTask(db, run, "a", { state });
      expect(await claim(id, 5)).toEqual([]);
      expect(await standings(db, "a")).toEqual([{ id, state, epoch: 5 }]);
    },
  );

  test("with an older epoch, a newer one or another id gets nothing", async () => {
    const id = await seedTask(db, run, "a", { state: "queued" });
    expect([await claim(id, 4), await claim(id, 6), await claim(OTHER, 5)]).toEqual([[], [], []]);
    expect(await standings(db, "a")).toEqual([{ id, state: "queued", epoch: 5 }]);
  });

  test("of the same message twice is one claim", async () => {
    const id = await seedTask(db, run, "a", { state: "queued" });
    const claims = await Promise.all([claim(id, 5), claim(id, 5), claim(id, 5)]);
    expect(claims.flat()).toHaveLength(1);
    expect(await transitions(db)).toHaveLength(1);
  });

  test("made by many workers at once gives each attempt to one of them", async () => {
    const ids = await Promise.all(
      Array.from({ length: 60 }, (_, i) => seedTask(db, run, "a", { state: "queued", map_index: i })),
    );
    const workers = [1, 2, 3, 4].map(async (worker) => {
      // Each starts elsewhere, so that they meet in the middle of each other's batches.
      const order = [...ids.slice(worker * 10), ...ids.slice(0, worker * 10)];
      const mine = [];
      for (let from = 0; from < order.length; from += 6) {
        const batch = order.slice(from, from + 6);
        mine.push(
          ...(await db.run(claimAttempts, [
            batch,
            batch.map(() => 5),
            batch.map(() => newId()),
            "h",
            "u",
            worker,
            worker,
          ])),
        );
      }
      return mine.map((attempt) => attempt.id);
    });
    const claimed = (await Promise.all(workers)).flat();
    expect(claimed.toSorted()).toEqual(ids.toSorted());
  });

  test("whose answer was lost is found by its token, and nobody else's is", async () => {
    const id = await seedTask(db, run, "a", { state: "queued" });
    const token = newId();
    const [made] = await claim(id, 5, token);
    expect(await db.run(readClaims, [[id], [token]])).toEqual([{ ...made, claimedAt: expect.any(Date) as Date }]);
    expect(await db.run(readClaims, [[id], [newId()]])).toEqual([]);
    await finish(id, 6);
    expect(await db.run(readClaims, [[id], [token]])).toEqual([]);
  });
});

describe("the end of an attempt", () => {
  test("comes with its result in one statement", async () => {
    const id = await seedTask(db, run, "a", { state: "running" });
    expect(await finish(id, 5, "success", '{"rows": 3}')).toEqual([{ id }]);
    expect(await standings(db, "a")).toEqual([{ id, state: "success", epoch: 6 }]);
    expect(await xcoms()).toEqual([{ key: "return_value", value: { rows: 3 } }]);
  });

  test.each([
    ["an older epoch", (id: string) => finish(id, 4, "failed", "1")],
    ["a newer epoch", (id: string) => finish(id, 6, "failed", "1")],
    ["another id", () => finish(OTHER, 5, "failed", "1")],
  ])("with %s writes neither state nor result", async (_what, end) => {
    const id = await seedTask(db, run, "a", { state: "running" });
    expect(await end(id)).toEqual([]);
    expect(await standings(db, "a")).toEqual([{ id, state: "running", epoch: 5 }]);
    expect(await xcoms()).toEqual([]);
  });

  test("is refused when its attempt has gone on under another epoch, though its id is the same", async () => {
    const id = await seedTask(db, run, "a", { state: "running", epoch: 7 });
    expect([await finish(id, 5, "success", "1"), await finish(id, 6), await finish(id, 8)]).toEqual([[], [], []]);
    expect(await standings(db, "a")).toEqual([{ id, state: "running", epoch: 7 }]);
    expect(await xcoms()).toEqual([]);
  });

  test("told twice is told once, and where it stands can be read", async () => {
    const id = await seedTask(db, run, "a", { state: "running" });
    await finish(id, 5);
    expect(await finish(id, 5)).toEqual([]);
    expect(await db.run(readAttempts, [[id]])).toEqual([{ id, state: "success", epoch: 6, isHistory: false }]);
  });
});

describe("a retry", () => {
  test("keeps the attempt in the history and makes a new one that is due later", async () => {
    const id = await seedTask(db, run, "a", {
      state: "running",
      try_number: 1,
      max_tries: 2,
      hostname: "host",
      worker_job_id: 7,
      start_token: newId(),
    });
    const next = newId();
    await retry(id, 5, next, { delay: 90 });
    expect(await standings(db, "a")).toEqual([{ id: next, state: "up_for_retry", epoch: 6 }]);
    const [row] = await db.read(
      "select extract(epoch from retry_at - now())::float8 as wait, max_tries, infra_failures, try_number, hostname, start_token from task_instance",
    );
    expect(row).toMatchObject({ max_tries: 2, infra_failures: 0, try_number: 1, hostname: null, start_token: null });
    expect((row as { wait: number }).wait).toBeGreaterThan(80);
    expect(
      await db.read("select task_instance_id, try_number, epoch, state, hostname from task_instance_history"),
    ).toEqual([{ task_instance_id: id, try_number: 1, epoch: 5, state: "failed", hostname: "host" }]);
    expect(await db.run(readAttempts, [[id]])).toEqual([{ id, state: "failed", epoch: 5, isHistory: true }]);
  });

  test("that is free gives the try back, and counts a lost worker when it was one", async () => {
    const id = await seedTask(db, run, "a", { state: "running", try_number: 1, max_tries: 1 });
    await retry(id, 5, newId(), { free: true, infra: true });
    expect(await db.read("select max_tries, infra_failures from task_instance")).toEqual([
      { max_tries: 2, infra_failures: 1 },
    ]);
  });

  test("of what is not this worker's any more writes nothing", async () => {
    const id = await seedTask(db, run, "a", { state: "running" });
    expect([await retry(id, 4, newId()), await retry(OTHER, 5, newId())]).toEqual([[], []]);
    expect(await standings(db, "a")).toEqual([{ id, state: "running", epoch: 5 }]);
    expect(await db.read("select * from task_instance_history")).toEqual([]);
  });

  test("leaves nothing to the attempt that was before: its end, its result and its heartbeat are refused", async () => {
    const id = await seedTask(db, run, "a", { state: "running", worker_job_id: 7, try_number: 1 });
    const next = newId();
    await retry(id, 5, next);
    expect([
      await finish(id, 5, "success", "1"),
      await db.run(writeXCom, [id, 5, "k", "1"]),
      await db.run(heartbeatAttempts, [[id], 7]),
    ]).toEqual([[], [], []]);
    expect(await standings(db, "a")).toEqual([{ id: next, state: "up_for_retry", epoch: 6 }]);
  });
});

describe("a heartbeat", () => {
  test("gives back what the worker still has, and what it is to stop", async () => {
    const states = ["running", "restarting", "shutdown", "success"] as const;
    const ids = await Promise.all(
      states.map((state, i) => seedTask(db, run, "a", { state, map_index: i, worker_job_id: 7 })),
    );
    const foreign = await seedTask(db, run, "b", { state: "running", worker_job_id: 8 });
    const alive = await db.run(heartbeatAttempts, [[...ids, foreign, OTHER], 7]);
    expect(alive.toSorted((a, b) => (a.state < b.state ? -1 : 1))).toEqual([
      { id: ids[1], epoch: 5, state: "restarting", isProven: true },
      { id: ids[0], epoch: 5, state: "running", isProven: true },
      { id: ids[2], epoch: 5, state: "shutdown", isProven: true },
    ]);
    const [beaten] = await db.read(
      `select count(*)::int as n, max(abs(extract(epoch from clock_timestamp() - latest_heartbeat))) < 60 as "byThisClock"
       from task_instance where latest_heartbeat is not null`,
    );
    expect(beaten).toEqual({ n: 3, byThisClock: true });
  });

  test("does not wait for a row that somebody holds, and says that it is not on it", async () => {
    const [free, held] = await Promise.all(
      [0, 1].map((i) => seedTask(db, run, "a", { state: "running", map_index: i, worker_job_id: 7 })),
    );
    const hold = defineStatement<readonly [id: string], never>({
      name: "hold",
      sql: "select from task_instance where id = $1::uuid for update",
    });
    const alive = await db.transaction(async (tx) => {
      await tx.run(hold, [held ?? ""]);
      return await db.run(heartbeatAttempts, [[free ?? "", held ?? ""], 7]);
    });
    expect(new Map(alive.map((row) => [row.id, row.isProven]))).toEqual(
      new Map([
        [free, true],
        [held, false],
      ]),
    );
  });
});
