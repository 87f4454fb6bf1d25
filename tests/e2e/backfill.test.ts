// Schedulers that are killed while they turn the dates of a backfill into runs, and while those run.
import { testDatabase, testRedisUrl, waitUntil } from "@millrace/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const weatherDatabase = await testDatabase();
const redisUrl = await testRedisUrl();
let fleet: Fleet;

beforeAll(async () => {
  fleet = await openFleet(database, redisUrl, weatherDatabase.url);
  await fleet.start(["dag-processor"]);
  await waitUntil(async () => (await fleet.query("select from dag where dag_id = 'hourly'")).length === 1, {
    what: "the DAG is read",
    timeoutMs: 30_000,
  });
  await fleet.query("update dag set is_paused = true");
}, 90_000);
afterAll(async () => {
  await fleet.close();
});

const count = async (from: string): Promise<number> =>
  Number((await fleet.query<{ n: string }>(`select count(*) as n from ${from}`))[0]?.n);
const until = async (what: string, probe: () => Promise<boolean>) =>
  await waitUntil(probe, { what, timeoutMs: 60_000 });

it("each date gets one run and each run goes once, whenever a scheduler is killed", { timeout: 240_000 }, async () => {
  const first = await fleet.start(["scheduler"]);
  const range = ["--from-date", "2025-01-01", "--to-date", "2025-03-31T23:00"];
  await fleet.command([
    "backfill",
    "create",
    "--dag-id",
    "hourly",
    ...range,
    "--max-active-runs",
    "4",
    "--run-backwards",
  ]);
  const dates = 90 * 24;
  await until("some dates to have runs", async () => (await count("dag_run")) > 0);
  first.kill("SIGKILL");
  expect(await count("backfill_dag_run where is_pending")).toBeGreaterThan(0);
  const second = await fleet.start(["scheduler"]);
  await until("all dates to have runs", async () => (await count("backfill_dag_run where is_pending")) === 0);
  expect(await count("backfill_dag_run where dag_run_id is not null and exception_reason is null")).toBe(dates);
  expect(await count("(select distinct logical_date from dag_run where dag_id = 'hourly') d")).toBe(dates);
  expect(await count("task_instance where dag_id = 'hourly'")).toBe(dates);

  await fleet.start(["worker"]);
  await fleet.start(["scheduler"]);
  await fleet.query("update dag set is_paused = false where dag_id = 'hourly'");
  await until(
    "some runs to end",
    async () => (await count("dag_run where backfill_id = 1 and state = 'success'")) >= 4,
  );
  second.kill("SIGKILL");
  const ended = await count("dag_run where backfill_id = 1 and state = 'success'");
  await until(
    "more to end",
    async () => (await count("dag_run where backfill_id = 1 and state = 'success'")) >= ended + 8,
  );
  await fleet.command(["backfill", "cancel", "1", "-y"]);
  await until(
    "what runs to end",
    async () => (await count("dag_run where backfill_id = 1 and state in ('queued', 'running')")) === 0,
  );
  expect(
    await count(
      "task_instance where run_id like 'backfill%' and (state is not null) and (state <> 'success' or try_number <> 1)",
    ),
  ).toBe(0);
  // The latest went first.
  const done = await count("dag_run where backfill_id = 1 and state = 'success'");
  expect(
    await count(
      `dag_run where backfill_id = 1 and state = 'success' and logical_date > timestamptz '2025-04-01Z' - interval '${done + 1} hours'`,
    ),
  ).toBe(done);
  expect(await count("backfill where completed_at is not null")).toBe(1);
});
