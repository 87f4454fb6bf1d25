import type { ScheduleSpec } from "@millrace/sdk/spec";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { planNextRun, type PlannedRun } from "./next-run.ts";
import { runsBetween } from "./runs-between.ts";

const dst = { gap: "shift", fold: "first" } as const;
const read = { timezone: "Europe/Berlin", dst };
const SCHEDULES: readonly ScheduleSpec[] = [
  { kind: "cron", cron: "30 2 * * *", ...read },
  { kind: "cron", cron: "0 */5 * * 1-5", ...read },
  { kind: "cronTrigger", cron: "0 * * * *", ...read },
  { kind: "cronTrigger", cron: "0 6 * * *", intervalSeconds: 86_400, ...read },
  { kind: "multipleCron", crons: ["0 9 * * 1-5", "0 */9 * * *"], ...read },
  { kind: "delta", seconds: 5_400 },
  {
    kind: "events",
    events: ["2026-03-27T10:00:00.000Z", "2026-03-28T10:00:00.000Z", "2026-04-01T10:00:00.000Z"],
    restrictToEvents: false,
  },
];
const at = (iso: string): number => Date.parse(iso);
const days = (runs: Iterable<PlannedRun>) =>
  [...runs].map((run) => new Date(run.logicalDate).toISOString().slice(5, 16));

describe("the runs of a schedule between two dates", () => {
  test("are those whose logical date lies there, both ends included", () => {
    const daily: ScheduleSpec = { kind: "cron", cron: "0 0 * * *", timezone: "UTC", dst };
    const range = { from: at("2026-01-30T00:00Z"), to: at("2026-02-01T00:00Z") };
    expect(days(runsBetween(daily, range))).toEqual(["01-30T00:00", "01-31T00:00", "02-01T00:00"]);
    expect(days(runsBetween(daily, { ...range, backwards: true }))).toEqual([
      "02-01T00:00",
      "01-31T00:00",
      "01-30T00:00",
    ]);
    expect(days(runsBetween(daily, { from: range.to, to: range.from }))).toEqual([]);
    expect([...runsBetween({ kind: "assetOrTime", time: daily, assets: { all: [] } }, range)]).toHaveLength(3);
  });

  test("of a delta keep to its anchor", () => {
    const delta: ScheduleSpec = { kind: "delta", seconds: 3_600 };
    const range = { from: at("2026-01-30T00:00Z"), to: at("2026-01-30T02:00Z"), anchor: at("2026-03-01T05:20Z") };
    expect(days(runsBetween(delta, range))).toEqual(["01-30T00:20", "01-30T01:20"]);
    expect(days(runsBetween(delta, { ...range, backwards: true }))).toEqual(["01-30T01:20", "01-30T00:20"]);
  });

  test("are none for a schedule without dates, and cannot be told for one that is code", () => {
    for (const kind of ["none", "once", "continuous"] as const)
      expect([...runsBetween({ kind }, { from: 0, to: 1e12 })]).toEqual([]);
    const custom: ScheduleSpec = { kind: "custom", name: "mine", summary: "mine" };
    expect(() => [...runsBetween(custom, { from: 0, to: 1 })]).toThrow(/code of the DAG's file/);
  });

  test("are the same backwards, and those that the scheduler would create one after the other", () => {
    const instant = fc.integer({ min: at("2026-03-20T00:00Z"), max: at("2026-04-05T00:00Z") });
    fc.assert(
      fc.property(fc.constantFrom(...SCHEDULES), instant, fc.nat(4 * 86_400_000), (schedule, from, length) => {
        const to = from + length;
        const forwards = [...runsBetween(schedule, { from, to })];
        expect([...runsBetween(schedule, { from, to, backwards: true })].reverse()).toEqual(forwards);
        const created: PlannedRun[] = [];
        const bounds = { earliest: from, latest: undefined, catchup: true, now: from } as const;
        for (
          let next = planNextRun(schedule, { last: undefined, ...bounds });
          next !== undefined && next.logicalDate <= to;
          next = planNextRun(schedule, { last: next.interval, ...bounds })
        )
          created.push(next);
        // What the first tick of a trigger with an interval stands for began before the range.
        expect(created.filter((run) => run.logicalDate >= from)).toEqual(forwards);
      }),
      { numRuns: 60 },
    );
  });
});
