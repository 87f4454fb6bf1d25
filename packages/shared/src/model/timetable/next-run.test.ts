import type { Catchup, ScheduleSpec } from "@millrace/sdk/spec";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { inferManualInterval } from "./infer-interval.ts";
import { planNextRun, type PlanRequest, type PlannedRun } from "./next-run.ts";
import { summarizeSchedule } from "./summarize-schedule.ts";

const HOUR = 3_600_000;
const DAY = 24 * HOUR;
const dst = { gap: "shift", fold: "first" } as const;
const cron = (expression: string, timezone = "UTC"): ScheduleSpec => ({
  kind: "cron",
  cron: expression,
  timezone,
  dst,
});
const cronTrigger = (expression: string): ScheduleSpec => ({
  kind: "cronTrigger",
  cron: expression,
  timezone: "UTC",
  dst,
});
const daily = cron("0 0 * * *");
const everyDay: ScheduleSpec = { kind: "delta", seconds: 86_400 };

const at = (iso: string): number => Date.parse(iso);
const request = (given: Partial<PlanRequest>): PlanRequest => ({
  last: undefined,
  earliest: undefined,
  latest: undefined,
  catchup: false,
  now: at("2016-01-02T06:00Z"),
  ...given,
});
const shown = (run: PlannedRun | undefined): string | undefined =>
  run &&
  [run.logicalDate, run.interval.start, run.interval.end, run.runAfter]
    .map((ms) => new Date(ms).toISOString().slice(0, 16))
    .join(" ");

/** What the scheduler does: creates each run when it is due and plans the next. Gives the intervals' starts. */
function runsUntil(
  schedule: ScheduleSpec,
  given: Partial<PlanRequest>,
  end: number,
  clock: (run: PlannedRun) => number,
): PlannedRun[] {
  const runs: PlannedRun[] = [];
  let next = planNextRun(schedule, request(given));
  while (next !== undefined && next.runAfter <= end && runs.length < 5_000) {
    runs.push(next);
    next = planNextRun(schedule, request({ ...given, last: next.interval, now: clock(next) }));
  }
  return runs;
}

describe("a daily cron since 2015-12-01, first seen on 2016-01-02 at 06:00", () => {
  const given = { earliest: at("2015-12-01T00:00Z") };

  test("without catchup gets one run, for the latest complete day, and the next just after midnight", () => {
    const first = planNextRun(daily, request(given));
    expect(shown(first)).toBe("2016-01-01T00:00 2016-01-01T00:00 2016-01-02T00:00 2016-01-02T00:00");
    const second = planNextRun(
      daily,
      request({ ...given, last: first?.interval as NonNullable<typeof first>["interval"] }),
    );
    expect(shown(second)).toBe("2016-01-02T00:00 2016-01-02T00:00 2016-01-03T00:00 2016-01-03T00:00");
  });

  test("with catchup gets every day, the oldest first", () => {
    const runs = runsUntil(daily, { ...given, catchup: true }, at("2016-01-02T06:00Z"), () => at("2016-01-02T06:00Z"));
    expect(runs).toHaveLength(32);
    expect(shown(runs[0])).toBe("2015-12-01T00:00 2015-12-01T00:00 2015-12-02T00:00 2015-12-02T00:00");
    expect(shown(runs.at(-1))).toContain("2016-01-01T00:00 2016-01-01T00:00 2016-01-02T00:00");
  });

  test('with catchup "none" starts with the day that is under way', () => {
    expect(shown(planNextRun(daily, request({ ...given, catchup: "none" })))).toBe(
      "2016-01-02T00:00 2016-01-02T00:00 2016-01-03T00:00 2016-01-03T00:00",
    );
  });

  test("seen at midnight sharp runs the day that has just ended", () => {
    const midnight = planNextRun(daily, request({ ...given, now: at("2016-01-02T00:00Z") }));
    expect(shown(midnight)).toContain("2016-01-01T00:00 2016-01-01T00:00 2016-01-02T00:00");
  });
});

describe("a delta of one day since 2015-12-01, first seen on 2016-01-02 at 06:00", () => {
  const given = { earliest: at("2015-12-01T00:00Z") };

  test("without catchup covers the day up to now, and then goes on from there", () => {
    const first = planNextRun(everyDay, request(given));
    expect(shown(first)).toBe("2016-01-01T06:00 2016-01-01T06:00 2016-01-02T06:00 2016-01-02T06:00");
    const second = planNextRun(
      everyDay,
      request({ ...given, last: { start: at("2016-01-01T06:00Z"), end: at("2016-01-02T06:00Z") } }),
    );
    expect(shown(second)).toContain("2016-01-02T06:00 2016-01-02T06:00 2016-01-03T06:00");
  });

  test("with catchup starts at the start date", () => {
    expect(shown(planNextRun(everyDay, request({ ...given, catchup: true })))).toContain(
      "2015-12-01T00:00 2015-12-01T00:00 2015-12-02T00:00",
    );
  });
});

describe("bounds", () => {
  test("a start date between two ticks starts with the tick after it", () => {
    const given = { earliest: at("2016-01-01T07:00Z"), catchup: true };
    expect(shown(planNextRun(daily, request(given)))).toContain("2016-01-02T00:00 2016-01-02T00:00 2016-01-03T00:00");
  });

  test("a start date in the future is waited for, whatever the catchup", () => {
    for (const catchup of [true, false, "none"] as const) {
      const run = planNextRun(daily, request({ earliest: at("2016-06-01T00:00Z"), catchup }));
      expect(shown(run)).toContain("2016-06-01T00:00 2016-06-01T00:00 2016-06-02T00:00");
    }
  });

  test("an interval that starts at the end date is the last", () => {
    const given = { earliest: at("2015-12-01T00:00Z"), latest: at("2015-12-03T00:00Z"), catchup: true };
    const runs = runsUntil(daily, given, at("2016-01-02T06:00Z"), () => at("2016-01-02T06:00Z"));
    expect(runs.map((run) => new Date(run.logicalDate).getUTCDate())).toEqual([1, 2, 3]);
    expect(planNextRun(daily, request({ ...given, catchup: false }))).toBeUndefined();
  });

  test("a schedule that is to catch up from no start date has no run", () => {
    expect(planNextRun(daily, request({ catchup: true }))).toBeUndefined();
    expect(planNextRun(everyDay, request({ catchup: true }))).toBeUndefined();
    expect(planNextRun(cronTrigger("0 0 * * *"), request({ catchup: true }))).toBeUndefined();
  });
});

describe("other schedules", () => {
  test("none has no run", () => {
    expect(planNextRun({ kind: "none" }, request({ earliest: 0, catchup: true }))).toBeUndefined();
  });

  test("once runs once: at the start date, or now", () => {
    expect(shown(planNextRun({ kind: "once" }, request({ earliest: at("2016-05-01T00:00Z") })))).toBe(
      "2016-05-01T00:00 2016-05-01T00:00 2016-05-01T00:00 2016-05-01T00:00",
    );
    expect(planNextRun({ kind: "once" }, request({}))?.runAfter).toBe(at("2016-01-02T06:00Z"));
    expect(planNextRun({ kind: "once" }, request({ last: { start: 0, end: 0 } }))).toBeUndefined();
  });

  test("continuous covers the time since the last run", () => {
    const last = { start: at("2016-01-02T04:00Z"), end: at("2016-01-02T05:00Z") };
    expect(shown(planNextRun({ kind: "continuous" }, request({ last })))).toBe(
      "2016-01-02T05:00 2016-01-02T05:00 2016-01-02T06:00 2016-01-02T06:00",
    );
    const first = planNextRun({ kind: "continuous" }, request({ earliest: at("2017-01-01T00:00Z") }));
    expect(shown(first)).toBe("2017-01-01T00:00 2017-01-01T00:00 2017-01-01T00:00 2017-01-01T00:00");
  });

  test("a cron trigger is an instant: the latest tick without catchup, every tick with it, the next one with none", () => {
    const instant = (catchup: Catchup) =>
      planNextRun(cronTrigger("0 0 * * *"), request({ earliest: at("2015-12-01T00:00Z"), catchup }));
    expect(shown(instant(false))).toBe("2016-01-02T00:00 2016-01-02T00:00 2016-01-02T00:00 2016-01-02T00:00");
    expect(shown(instant(true))).toContain("2015-12-01T00:00");
    expect(shown(instant("none"))).toContain("2016-01-03T00:00");
    const last = { start: at("2016-01-02T00:00Z"), end: at("2016-01-02T00:00Z") };
    expect(shown(planNextRun(cronTrigger("0 0 * * *"), request({ last })))).toContain("2016-01-03T00:00");
  });
});

describe("a scheduler that is late", () => {
  const hours = (runs: readonly PlannedRun[]) => runs.map((run) => run.interval.start);
  const end = at("2016-01-03T06:00Z");
  const given = { earliest: at("2016-01-02T00:00Z"), catchup: true as Catchup };

  test("by hours leaves out no interval under catchup", () => {
    for (const schedule of [cron("0 * * * *"), { kind: "delta", seconds: 3_600 } as const, cronTrigger("0 * * * *")]) {
      const prompt = runsUntil(schedule, given, end, (run) => run.runAfter);
      expect(hours(runsUntil(schedule, given, end, (run) => run.runAfter + 7 * HOUR))).toEqual(hours(prompt));
      expect(prompt.length).toBeGreaterThan(28);
    }
  });

  test("by less than an interval leaves out none without catchup", () => {
    const now = at("2016-01-02T00:30Z");
    for (const catchup of [false, "none"] as const) {
      const late = runsUntil(cron("0 * * * *"), { catchup, now }, end, (run) => run.runAfter + 59 * 60_000);
      expect(hours(late)).toEqual(hours(runsUntil(cron("0 * * * *"), { catchup, now }, end, (run) => run.runAfter)));
      expect(late.length).toBeGreaterThan(28);
    }
  });

  test("by hours goes on with the latest complete interval without catchup", () => {
    const last = { start: at("2016-01-01T00:00Z"), end: at("2016-01-01T01:00Z") };
    expect(shown(planNextRun(cron("0 * * * *"), request({ last })))).toContain(
      "2016-01-02T05:00 2016-01-02T05:00 2016-01-02T06:00",
    );
  });
});

test("intervals adjoin: none overlaps the one before, and under catchup none is left out", () => {
  const schedules: readonly ScheduleSpec[] = [
    daily,
    cron("*/15 * * * *"),
    cron("30 2 * * *", "America/New_York"),
    cron("0 */5 * * 1-5", "Europe/Berlin"),
    { kind: "delta", seconds: 5_400 },
  ];
  const lateness = fc.array(fc.nat({ max: 50 * HOUR }), { minLength: 12, maxLength: 12 });
  fc.assert(
    fc.property(
      fc.constantFrom(...schedules),
      fc.constantFrom<Catchup>(true, false, "none"),
      lateness,
      (schedule, catchup, late) => {
        let n = 0;
        const runs = runsUntil(
          schedule,
          { catchup, earliest: at("2026-03-27T00:00Z"), now: at("2026-03-28T00:00Z") },
          at("2026-04-02T00:00Z"),
          (run) => run.runAfter + (late[n++ % late.length] ?? 0),
        );
        for (const [i, run] of runs.entries()) {
          const before = runs[i - 1];
          expect(run.runAfter).toBe(run.interval.end);
          expect(run.interval.end).toBeGreaterThan(run.interval.start);
          if (before === undefined) continue;
          if (catchup === true) expect(run.interval.start).toBe(before.interval.end);
          else expect(run.interval.start).toBeGreaterThanOrEqual(before.interval.end);
        }
      },
    ),
    { numRuns: 15 },
  );
});

describe("the interval of a manual run", () => {
  const noon = at("2016-01-02T12:00Z");

  test("is the latest complete one of a cron, the delta before of a delta, and the instant of anything else", () => {
    expect(inferManualInterval(daily, noon)).toEqual({ start: noon - 1.5 * DAY, end: noon - DAY / 2 });
    expect(inferManualInterval(daily, at("2016-01-02T00:00Z")).end).toBe(at("2016-01-02T00:00Z"));
    expect(inferManualInterval(everyDay, noon)).toEqual({ start: noon - DAY, end: noon });
    for (const schedule of [
      { kind: "none" },
      { kind: "once" },
      { kind: "continuous" },
      cronTrigger("0 0 * * *"),
    ] as const) {
      expect(inferManualInterval(schedule, noon)).toEqual({ start: noon, end: noon });
    }
  });
});

test("a schedule is summed up by its cron or in words", () => {
  expect(
    [daily, everyDay, { kind: "once" } as const, { kind: "continuous" } as const, { kind: "none" } as const].map(
      summarizeSchedule,
    ),
  ).toEqual(["0 0 * * *", "every 86400 s", "@once", "@continuous", "None"]);
});
