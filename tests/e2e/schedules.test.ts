// Schedules of one second with real schedulers that are killed: no interval is lost, none comes twice.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { testDatabase, testRedisUrl, waitUntil } from "@millrace/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
let fleet: Fleet;

// Without tasks a run is over at once: no worker is needed.
const FILE = `import { cron, cronTrigger, Dag, defineTimetable } from "@millrace/sdk";
const more = { isPausedUponCreation: false, maxActiveRuns: 100 };
new Dag("intervals", { schedule: cron("* * * * * */2"), ...more });
new Dag("ticks", { schedule: cronTrigger("* * * * * *"), ...more });
const custom = defineTimetable({
  name: "seconds",
  next({ last, now }) {
    const start = last?.end ?? new Date(Math.floor(now.getTime() / 1000) * 1000);
    return { start, end: new Date(start.getTime() + 1000) };
  },
});
new Dag("custom", { schedule: custom, ...more });
new Dag("broken", { schedule: defineTimetable({ name: "broken", next() { throw new Error("no calendar"); } }), ...more });
`;
const STEPS = { intervals: 2_000, ticks: 1_000, custom: 1_000 };

beforeAll(async () => {
  fleet = await openFleet(database, redisUrl, database.url);
  await writeFile(join(fleet.folder, "dags", "seconds.ts"), FILE);
  await fleet.start(["dag-processor"]);
}, 120_000);
afterAll(() => fleet.close());

const countOf = async (dagId: string): Promise<number> =>
  (await fleet.query<{ n: number }>("select count(*)::int as n from dag_run where dag_id = $1", [dagId]))[0]?.n ?? 0;
const more = async (runs: number): Promise<void> => {
  const wanted = (await countOf("ticks")) + runs;
  await waitUntil(async () => (await countOf("ticks")) >= wanted, { what: `${runs} more runs`, timeoutMs: 60_000 });
};

it("two schedulers and killed leaders give every second its run, and a broken timetable harms its DAG only", async () => {
  const [first, second] = [await fleet.start(["scheduler"]), await fleet.start(["scheduler"])];
  await more(4);
  first.kill("SIGKILL");
  await first.exited;
  await more(4);
  second.kill("SIGKILL");
  await second.exited;
  // What falls due while none lives is created by the next one, late.
  await fleet.start(["scheduler"]);
  await more(8);
  for (const [dagId, step] of Object.entries(STEPS)) {
    const rows = await fleet.query<{ at: Date; start: Date; type: string }>(
      "select logical_date as at, data_interval_start as start, run_type as type from dag_run where dag_id = $1 order by 1",
      [dagId],
    );
    const dates = rows.map(({ at }) => at.getTime());
    expect(dates.length, dagId).toBeGreaterThan(4);
    expect(dates, dagId).toEqual(dates.map((_, i) => (dates[0] ?? 0) + i * step));
  }
  expect(await countOf("broken")).toBe(0);
  expect(await fleet.query("select dag_id, warning_type from dag_warning")).toEqual([
    { dag_id: "broken", warning_type: "timetable error" },
  ]);
}, 240_000);
