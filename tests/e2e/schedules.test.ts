// Schedules of one second with real schedulers that are killed: no interval is lost, none comes twice.
import { writeFile } from "node:fs/promises";
import { join } from "node:path";
import { testDatabase, testRedisUrl, waitUntil } from "@millrace/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
let fleet: Fleet;

const EVENTS = Array.from({ length: 100 }, (_, i) => (Math.floor(Date.now() / 1000) + 5 + 3 * i) * 1000);
const EVEN_OR_THIRD = Array.from({ length: 60 }, (_, second) => second).filter((s) => s % 2 === 0 || s % 3 === 0);

// Without tasks a run is over at once: no worker is needed.
const FILE = `import { cron, cronTrigger, Dag, defineTimetable, events, multipleCron } from "@millrace/sdk";
const more = { isPausedUponCreation: false, maxActiveRuns: 100 };
new Dag("intervals", { schedule: cron("* * * * * */2"), ...more });
new Dag("ticks", { schedule: cronTrigger("* * * * * *"), ...more });
new Dag("merged", { schedule: multipleCron(["* * * * * */2", "* * * * * */3"]), ...more });
new Dag("events", { schedule: events(${JSON.stringify(EVENTS.map((at) => new Date(at).toISOString()))}), ...more });
const custom = defineTimetable({
  name: "seconds",
  next({ last, earliest, now }) {
    const start = last?.end ?? earliest ?? new Date(Math.floor(now.getTime() / 1000) * 1000);
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
const datesOf = async (dagId: string): Promise<number[]> =>
  (
    await fleet.query<{ at: Date }>(
      "select logical_date as at from dag_run where dag_id = $1 and run_type = 'scheduled' order by 1",
      [dagId],
    )
  ).map(({ at }) => at.getTime());
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
    const dates = await datesOf(dagId);
    expect(dates.length, dagId).toBeGreaterThan(4);
    expect(dates, dagId).toEqual(dates.map((_, i) => (dates[0] ?? 0) + i * step));
  }
  const merged = await datesOf("merged");
  const [from = 0, to = 0] = [merged[0], merged.at(-1)];
  const seconds = Array.from({ length: (to - from) / 1000 + 1 }, (_, i) => from + i * 1000);
  expect(merged.length).toBeGreaterThan(8);
  expect(merged).toEqual(seconds.filter((at) => EVEN_OR_THIRD.includes((at / 1000) % 60)));
  const happened = await datesOf("events");
  expect(happened.length).toBeGreaterThan(2);
  const begun = EVENTS.indexOf(happened[0] ?? 0);
  expect(happened).toEqual(EVENTS.slice(begun, begun + happened.length));
  expect(await countOf("broken")).toBe(0);
  expect(await fleet.query("select dag_id, warning_type from dag_warning")).toEqual([
    { dag_id: "broken", warning_type: "timetable error" },
  ]);
}, 240_000);

it("a backfill over a timetable of the file's own gets its dates from the dag-processor", async () => {
  await fleet.start(["scheduler"]);
  await waitUntil(async () => (await countOf("custom")) > 0, { what: "a run of its schedule", timeoutMs: 60_000 });
  const from = Math.floor(Date.now() / 1000) * 1000 - 3_600_000;
  const range = ["--from-date", new Date(from).toISOString(), "--to-date", new Date(from + 29_000).toISOString()];
  await fleet.command(["backfill", "create", "--dag-id", "custom", ...range]);
  const runs = async () =>
    await fleet.query<{ at: Date; state: string }>(
      "select logical_date as at, state from dag_run where dag_id = 'custom' and run_type = 'backfill' order by 1",
    );
  await waitUntil(async () => (await fleet.query("select from backfill where completed_at is not null")).length === 1, {
    what: "the end of the backfill",
    timeoutMs: 60_000,
  });
  expect((await runs()).every(({ state }) => state === "success")).toBe(true);
  expect((await runs()).map(({ at }) => at.getTime())).toEqual(Array.from({ length: 30 }, (_, i) => from + i * 1000));
}, 120_000);
