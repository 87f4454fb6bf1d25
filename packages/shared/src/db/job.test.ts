import { fakeClock, testDatabase, waitUntil } from "@millrace/testkit";
import { afterAll, beforeEach, expect, test } from "vitest";
import { openDatabase, quiet } from "./fixtures/seed.ts";
import { Job, listJobs, type Database } from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url);
afterAll(() => db.close());
beforeEach(() => database.reset());

const jobs = () => db.read<Record<string, unknown>>("select * from job order by id");
const old = () => db.read("update job set latest_heartbeat = now() - interval '1 hour'");
const isFresh = async () =>
  (await db.read<{ fresh: boolean }>("select latest_heartbeat > now() - interval '1 minute' as fresh from job"))[0]
    ?.fresh === true;

function newJob() {
  const clock = fakeClock();
  return {
    clock,
    job: new Job({ db, type: "WorkerJob", heartbeatSeconds: 5, log: quiet, queues: ["a", "b"], concurrency: 3, clock }),
  };
}

test("a process is seen from its start to its end, under one id", async () => {
  const { job, clock } = newJob();
  expect(() => job.id).toThrow("not registered");
  await job.start();
  await job.start();
  expect(await jobs()).toMatchObject([
    { id: job.id, job_type: "WorkerJob", state: "running", queues: ["a", "b"], concurrency: 3, end_date: null },
  ]);
  await job.stop();
  await job.stop();
  expect(await jobs()).toMatchObject([{ state: "success", end_date: expect.any(Date) as Date }]);
  expect(clock.pending).toBe(0);
});

test("a process says that it lives as often as it is told to, and also when somebody had taken it for dead", async () => {
  const { job, clock } = newJob();
  await job.start();
  await old();
  await clock.advance(4_999);
  expect(await isFresh()).toBe(false);
  await db.read("update job set state = 'failed', end_date = now()");
  await clock.advance(1);
  await waitUntil(isFresh, { what: "the heartbeat is written" });
  expect(await jobs()).toMatchObject([{ state: "running", end_date: null }]);
  await job.stop();
});

test("a process that is started again is another one", async () => {
  const { job } = newJob();
  await job.start();
  const first = job.id;
  await job.stop();
  await job.start();
  expect(job.id).not.toBe(first);
  await job.stop();
});

test("a process whose row is another's, as after a restore from a backup, registers anew and leaves that one alone", async () => {
  const { job, clock } = newJob();
  await job.start();
  const [first] = await jobs();
  await db.read("update job set identity = gen_random_uuid(), hostname = 'other'");
  await clock.advance(5_000);
  await waitUntil(() => job.id !== first?.["id"], { what: "it has a row of its own" });
  await job.stop();
  expect(await jobs()).toMatchObject([
    { id: first?.["id"], hostname: "other", state: "running" },
    { id: expect.any(Number) as number, state: "success" },
  ]);
});

test("a worker whose queue no longer answers is not counted among the living", async () => {
  let silentMs = 1_000;
  const clock = fakeClock();
  const job = new Job({ db, type: "WorkerJob", heartbeatSeconds: 5, log: quiet, clock, silentMs: () => silentMs });
  await job.start();
  const living = async () => (await listJobs(db, { aliveSeconds: 30, isAlive: true })).items.length;
  const said = async (ms: number) => {
    silentMs = ms;
    await clock.advance(5_000);
    await waitUntil(
      async () =>
        (
          await db.read(
            `select from job where abs(extract(epoch from latest_heartbeat - last_poll) - ${ms / 1000}) < 0.5`,
          )
        ).length === 1,
      { what: "it is said" },
    );
  };
  await said(2_000);
  expect(await living()).toBe(1);
  await said(40_000);
  expect(await living()).toBe(0);
  await job.stop();
});

test("a process that loses its connection while it registers goes on, and is seen once", async () => {
  const clock = fakeClock();
  let asked = 0;
  const run: Database["run"] = async (statement, params) => {
    if (++asked === 1) throw new Error("Connection terminated unexpectedly");
    return await db.run(statement, params);
  };
  // All that a job uses of it.
  const away = { run, beat: db.beat.bind(db) } as unknown as Database;
  const job = new Job({ db: away, type: "WorkerJob", heartbeatSeconds: 5, log: quiet, clock });
  const started = job.start();
  await waitUntil(() => clock.pending === 1, { what: "it waits before it asks again" });
  await clock.advance(500);
  await started;
  expect(await jobs()).toMatchObject([{ id: job.id, state: "running" }]);
  await job.stop();
});
