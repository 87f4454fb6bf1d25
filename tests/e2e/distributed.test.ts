import { readdir, readFile } from "node:fs/promises";
import { join } from "node:path";
import { testDatabase, testRedisUrl, waitUntil, type MillraceProcess } from "@millrace/testkit";
import pg from "pg";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const weatherDatabase = await testDatabase();
const redisUrl = await testRedisUrl();

let fleet: Fleet;
let schedulers: MillraceProcess[];
let workers: MillraceProcess[];

beforeAll(async () => {
  fleet = await openFleet(database, redisUrl, weatherDatabase.url);
  // Paused until the test that watches it: its month would run beside every other one.
  await fleet.start(["dag-processor"]);
  await waitUntil(async () => (await fleet.query("select from dag")).length >= 5, {
    what: "every DAG is read",
    timeoutMs: 30_000,
  });
  expect(await fleet.query("select filename, stacktrace from import_error")).toEqual([]);
  await fleet.query("update dag set is_paused = true where dag_id = 'weather'");
  schedulers = [await fleet.start(["scheduler"]), await fleet.start(["scheduler"])];
  workers = [await fleet.start(["worker"]), await fleet.start(["worker", "--queues", "heavy", "--concurrency", "2"])];
}, 120_000);

afterAll(async () => {
  await fleet.close();
});

async function trigger(dagId: string, conf: object = {}): Promise<string> {
  const lines = await fleet.command(["dags", "trigger", dagId, "-c", JSON.stringify(conf), "-o", "json"]);
  const text = lines.join("\n");
  const printed = JSON.parse(text.slice(text.search(/[[{]/))) as
    { run_id?: string; dag_run_id?: string } | { run_id?: string; dag_run_id?: string }[];
  const run = Array.isArray(printed) ? printed[0] : printed;
  return run?.run_id ?? run?.dag_run_id ?? "";
}

describe("two schedulers and two workers on different queues", { timeout: 120_000 }, () => {
  it("runs hello and hands its value on", async () => {
    const runId = await trigger("hello");
    expect(await fleet.ended("hello", runId)).toEqual({
      state: "success",
      tasks: { greet: "success", say: "success" },
    });
    const [xcom] = await fleet.query<{ value: string }>(
      "select value from xcom where run_id = $1 and task_id = 'greet'",
      [runId],
    );
    expect(xcom?.value).toBe(`Hello from ${runId}`);
    const log = await readFile(
      join(fleet.folder, "logs", "dag_id=hello", `run_id=${encodeURIComponent(runId)}`, "task_id=say", "attempt=1.log"),
      "utf8",
    );
    expect(log).toContain(`"logger":"task.stdout","event":"Hello from ${runId}"`);
  });

  it("follows the branch that the params ask for and skips the others", async () => {
    const runId = await trigger("branching", { size: "large", notify: false });
    const { state, tasks } = await fleet.ended("branching", runId);
    expect(state).toBe("success");
    expect(tasks).toEqual({
      choose: "success",
      small: "skipped",
      medium: "skipped",
      large: "success",
      join: "success",
      notification_wanted: "success",
      notify: "skipped",
      end: "success",
    });
  });

  it("tries a failing task again and keeps each try in the history with its log", async () => {
    const runId = await trigger("retries_pools");
    expect((await fleet.ended("retries_pools", runId)).tasks).toEqual({
      flaky: "success",
      heavy: "success",
      light: "success",
    });
    const tries = await fleet.query<{ try_number: number; state: string }>(
      "select try_number, state from task_instance_history where run_id = $1 order by try_number",
      [runId],
    );
    expect(tries).toEqual([
      { try_number: 1, state: "failed" },
      { try_number: 2, state: "failed" },
    ]);
    const folder = join(
      fleet.folder,
      "logs",
      "dag_id=retries_pools",
      `run_id=${encodeURIComponent(runId)}`,
      "task_id=flaky",
    );
    // The third try succeeded and said nothing: its line is made from its row.
    expect((await readdir(folder)).sort()).toEqual(["attempt=1.log", "attempt=2.log"]);
    const shown = await fleet.command(["tasks", "logs", "retries_pools", "flaky", runId]);
    expect(shown.join("\n")).toMatch(/try 3 succeeded/);
    // The failure is shown with the line of the user's own file.
    expect(await readFile(join(folder, "attempt=1.log"), "utf8")).toMatch(
      /try 1 fails, as it should[^]*retries-pools\.ts:\d+:\d+/,
    );
  });

  it("gives each task to the worker that serves its queue", async () => {
    const runId = await trigger("queues");
    expect((await fleet.ended("queues", runId)).state).toBe("success");
    const rows = await fleet.query<{ task_id: string; queues: string[] }>(
      "select ti.task_id, j.queues from task_instance ti join job j on j.id = ti.worker_job_id where ti.run_id = $1 order by ti.task_id",
      [runId],
    );
    expect(rows).toEqual([
      { task_id: "heavy", queues: ["heavy"] },
      { task_id: "last", queues: ["default"] },
      { task_id: "light", queues: ["default"] },
    ]);
  });

  it("fills a month of weather with exactly one row a day while a worker and a scheduler are killed", async () => {
    await fleet.command(["dags", "unpause", "weather"]);
    const done = async () =>
      (
        await fleet.query<{ n: number }>(
          "select count(*)::int as n from dag_run where dag_id = 'weather' and state = 'success'",
        )
      )[0]?.n ?? 0;
    await waitUntil(async () => (await done()) >= 4, { what: "four days are loaded", timeoutMs: 60_000 });
    workers[0]?.kill("SIGKILL");
    schedulers[0]?.kill("SIGKILL");
    workers[0] = await fleet.start(["worker"]);
    await waitUntil(async () => (await done()) === 31, { what: "the month is loaded", timeoutMs: 90_000 });
    const weather = new pg.Client(weatherDatabase.url);
    await weather.connect();
    const { rows } = await weather.query<{ day: string; n: number }>(
      "select to_char(date, 'YYYY-MM-DD') as day, count(*)::int as n from weather_day group by date order by date",
    );
    await weather.end();
    expect(rows).toEqual(
      Array.from({ length: 31 }, (_, d) => ({ day: `2012-01-${String(d + 1).padStart(2, "0")}`, n: 1 })),
    );
    expect((await readdir(join(fleet.folder, "reports"))).filter((name) => name.endsWith(".md"))).toHaveLength(31);
    expect(await fleet.query("select run_id from dag_run where dag_id = 'weather' and state <> 'success'")).toEqual([]);
    const [again] = await fleet.query<{ n: number }>(
      "select count(*)::int as n from task_instance_transition where to_state = 'running' group by ti_id having count(*) > 1",
    );
    expect(again).toBeUndefined();
  });
});
