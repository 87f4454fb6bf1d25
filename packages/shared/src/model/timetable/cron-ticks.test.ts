import type { DstPolicy } from "@millrace/sdk/spec";
import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { AppError } from "../../errors/index.ts";
import { cronTicks } from "./cron-ticks.ts";
import { MINUTE, minutesOf, referenceTicks } from "./fixtures/cron-reference.ts";

const SHIFT_FIRST: DstPolicy = { gap: "shift", fold: "first" };
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;

function ticksBetween(cron: string, zone: string, dst: DstPolicy, from: number, to: number): number[] {
  const { next } = cronTicks(cron, zone, dst);
  const found: number[] = [];
  for (let at = next(from - 1); at !== undefined && at < to; at = next(at)) found.push(at);
  return found;
}

const shown = (instants: readonly number[]): string[] => instants.map((at) => new Date(at).toISOString());
const on = (cron: string, zone: string, day: string, dst: DstPolicy = SHIFT_FIRST, days = 1) =>
  shown(ticksBetween(cron, zone, dst, Date.parse(day), Date.parse(day) + days * DAY)).map((iso) => iso.slice(5, 16));

// Thirty hours around each weekend at which clocks change, and one for zones in which none does.
const WEEKENDS: readonly (readonly [zone: string, days: readonly string[]])[] = [
  ["America/New_York", ["2025-03-08T12:00Z", "2025-11-01T12:00Z"]],
  ["America/Los_Angeles", ["2026-03-07T12:00Z", "2026-10-31T12:00Z"]],
  ["Europe/Berlin", ["2026-03-28T12:00Z", "2026-10-24T12:00Z"]],
  ["Europe/London", ["2026-03-28T12:00Z", "2026-10-24T12:00Z"]],
  ["Australia/Lord_Howe", ["2026-04-04T00:00Z", "2026-10-03T00:00Z"]],
  ["America/Santiago", ["2026-04-04T12:00Z", "2026-09-05T12:00Z"]],
  ["Africa/Cairo", ["2025-04-24T06:00Z", "2025-10-30T06:00Z"]],
  ["Asia/Kolkata", ["2026-03-28T12:00Z"]],
  // The last weekend of December 2011 had no Friday there.
  ["Pacific/Apia", ["2011-12-29T12:00Z", "2011-04-02T00:00Z"]],
  ["UTC", ["2026-03-28T12:00Z"]],
];

const CRONS = [
  "0 * * * *",
  "*/20 * * * *",
  "30 2 * * *",
  "30 1 * * *",
  "0 0 * * *",
  "15 0,23 * * *",
  "*/30 1-3 * * *",
  "0 */2 * * *",
  "20 */4 * * *",
  "0 7-8 * * *",
  "45 1 * * sun",
  "10 2 1,28-31 * *",
];
const POLICIES: readonly DstPolicy[] = [SHIFT_FIRST, { gap: "skip", fold: "last" }, { gap: "shift", fold: "both" }];

describe("around the weekends at which clocks change", () => {
  test.each(WEEKENDS)("in %s every cron fires as a look at each minute says", (zone, days) => {
    for (const from of days.map((day) => Date.parse(day))) {
      const minutes = minutesOf(zone, from, from + 30 * HOUR);
      for (const cron of CRONS) {
        for (const dst of POLICIES) {
          const found = ticksBetween(cron, zone, dst, from, from + 30 * HOUR);
          const expected = referenceTicks(cron, dst, minutes);
          expect({ cron, dst, ticks: shown(found) }).toEqual({ cron, dst, ticks: shown(expected) });
        }
      }
    }
  });

  test("an hourly cron fires every real hour: 23 on the short day, 25 on the long one", () => {
    expect(on("0 * * * *", "America/New_York", "2025-03-09T05:00Z", SHIFT_FIRST, 23 / 24)).toHaveLength(23);
    expect(on("0 * * * *", "America/New_York", "2025-11-02T04:00Z", SHIFT_FIRST, 25 / 24)).toHaveLength(25);
    expect(on("0 0-23 * * *", "America/New_York", "2025-11-02T04:00Z", SHIFT_FIRST, 25 / 24)).toHaveLength(25);
  });

  test("a fixed local time that does not exist shifts by the gap or is left out", () => {
    expect(on("30 2 * * *", "America/New_York", "2025-03-09T05:00Z")).toEqual(["03-09T07:30"]);
    expect(on("30 2 * * *", "America/New_York", "2025-03-09T05:00Z", { gap: "skip", fold: "first" })).toEqual([]);
  });

  test("a fixed local time that exists twice fires the first time, the last, or both", () => {
    const fold = (which: DstPolicy["fold"]) =>
      on("30 1 * * *", "America/New_York", "2025-11-02T04:00Z", { gap: "shift", fold: which });
    expect(fold("first")).toEqual(["11-02T05:30"]);
    expect(fold("last")).toEqual(["11-02T06:30"]);
    expect(fold("both")).toEqual(["11-02T05:30", "11-02T06:30"]);
  });

  test("hours of the clock stay hours of the clock before and after", () => {
    const hours = on("0 7,9 * * *", "America/Los_Angeles", "2026-03-07T08:00Z", SHIFT_FIRST, 3);
    expect(hours).toEqual(["03-07T15:00", "03-07T17:00", "03-08T14:00", "03-08T16:00", "03-09T14:00", "03-09T16:00"]);
  });

  test("a date that never was shifts to the next and is not run twice", () => {
    expect(on("0 5 * * *", "Pacific/Apia", "2011-12-29T10:00Z", SHIFT_FIRST, 3)).toEqual([
      "12-29T15:00",
      "12-30T15:00",
      "12-31T15:00",
    ]);
    expect(on("0 5 30 12 *", "Pacific/Apia", "2011-12-29T10:00Z", SHIFT_FIRST, 3)).toEqual(["12-30T15:00"]);
  });
});

describe("an expression", () => {
  test("may have seconds as a sixth field, at the end", () => {
    expect(shown(ticksBetween("0 0 * * * 15,45", "UTC", SHIFT_FIRST, 0, 2 * MINUTE))).toEqual([
      "1970-01-01T00:00:15.000Z",
      "1970-01-01T00:00:45.000Z",
    ]);
  });

  test.each([
    ["0 0 L * *", "2026-02-01", ["02-28"]],
    ["0 0 * * 5#2", "2026-02-01", ["02-13"]],
    ["0 0 * * FRI#2", "2026-02-01", ["02-13"]],
    ["0 0 * * 5L", "2026-02-01", ["02-27"]],
    ["0 0 * FEB MON", "2026-02-01", ["02-02", "02-09", "02-16", "02-23"]],
    ["0 0 13 * 5", "2026-02-01", ["02-06", "02-13", "02-20", "02-27"]],
    ["0 0 1 * 7", "2026-02-01", ["02-01", "02-08", "02-15", "02-22"]],
    ["0 0 1 * 0", "2026-02-01", ["02-01", "02-08", "02-15", "02-22"]],
    ["0 0 5/10 * *", "2026-02-01", ["02-05", "02-15", "02-25"]],
    ["0 0 10-12,20 * *", "2026-02-01", ["02-10", "02-11", "02-12", "02-20"]],
  ])("%s of a February fires on %s…: %j", (cron, from, days) => {
    expect(on(cron, "UTC", from, SHIFT_FIRST, 28)).toEqual(days.map((day) => `${day}T00:00`));
  });

  test.each([
    ["0 0 31 2 *", "UTC", /no date matches it/],
    ["* * * *", "UTC", /5 fields, or 6.*this has 4/],
    ["0 0 * * * * *", "UTC", /this has 7/],
    ["", "UTC", /this has 1/],
    ["61 * * * *", "UTC", /61/],
    ["x * * * *", "UTC", /./],
    ["0 0 * * *", "Mars/Olympus", /no time zone Mars\/Olympus/],
    ["0 0 * * *", "", /no time zone/],
  ])("%j in %j is refused with its cause", (cron, zone, cause) => {
    try {
      cronTicks(cron, zone, SHIFT_FIRST);
      expect.unreachable();
    } catch (error) {
      expect(error).toBeInstanceOf(AppError);
      expect(error).toMatchObject({ code: "SCHEDULE_INVALID" });
      expect((error as AppError).message).toContain(`"${cron}" is not a schedule`);
      expect((error as AppError).message).toMatch(cause);
    }
  });

  test("that fires on 29 February only goes from leap year to leap year, over the one that 2100 is not", () => {
    const { next, previous } = cronTicks("0 12 29 2 *", "Europe/Berlin", SHIFT_FIRST);
    const leap = (year: number) => Date.UTC(year, 1, 29, 11);
    expect(next(leap(2024))).toBe(leap(2028));
    expect(next(leap(2096))).toBe(leap(2104));
    expect(previous(leap(2028))).toBe(leap(2024));
    expect(previous(leap(2104))).toBe(leap(2096));
  });
});

// A million draws; one that fails is told by its three values. Plain numbers, because it is the number that counts here.
test("the next tick is strictly later and the previous strictly earlier, whatever cron, zone and instant", () => {
  let random = 20_260_329;
  const draw = (n: number) => (random = (random * 48_271) % 2_147_483_647) % n;
  const pick = <T>(values: readonly T[]): T => values[draw(values.length)] as T; // drawn below its length
  const changes = WEEKENDS.flatMap(([, days]) => days.map((day) => Date.parse(day) + 20 * HOUR));
  const zones = [...WEEKENDS.map(([zone]) => zone), "Asia/Kathmandu", "Pacific/Chatham", "Africa/Casablanca"];
  const fields = [
    ["0", "30", "*/5", "59", "*", "0,29"],
    ["*", "0", "2", "1-3", "*/2", "23", "0,12"],
    ["*", "*", "1", "L", "28-31"],
    ["*", "*", "3,10-11"],
    ["*", "*", "sun", "1-5", "5#2"],
  ] as const;
  const folds = ["first", "last", "both"] as const;
  for (let schedule = 0; schedule < 400; schedule++) {
    const cron = fields.map(pick).join(" ") + (draw(20) === 0 ? " */20" : "");
    const zone = pick(zones);
    const { next, previous } = cronTicks(cron, zone, { gap: pick(["shift", "skip"]), fold: pick(folds) });
    for (let i = 0; i < 2_500; i++) {
      const at =
        draw(2) === 0 ? pick(changes) - DAY + draw(2 * DAY) : Date.UTC(2025, 0, 1) + draw(700) * DAY + draw(DAY);
      const after = next(at);
      if (after === undefined || after <= at) expect.fail(`${cron} in ${zone} after ${at}: ${after}`);
      if (i % 25 > 0) continue;
      const before = previous(at);
      if (before === undefined || before >= at) expect.fail(`${cron} in ${zone} before ${at}: ${before}`);
    }
  }
}, 240_000);

describe("the next and the previous tick", () => {
  const minute = fc.constantFrom("0", "*/5", "*/7", "30", "0,59", "13-17");
  const hour = fc.constantFrom("*", "*", "0", "1", "2", "3", "*/2", "1-3", "23", "0,12");
  const dom = fc.constantFrom("*", "*", "*", "1", "31", "L", "*/10", "28-31");
  const month = fc.constantFrom("*", "*", "*", "1", "3,10-11", "FEB");
  const dow = fc.constantFrom("*", "*", "*", "sun", "1-5", "0", "SAT#1");
  const anyCron = fc.tuple(minute, hour, dom, month, dow).map((fields) => fields.join(" "));
  const zone = fc.constantFrom(...WEEKENDS.map(([name]) => name));
  const anyDst = fc.record({
    gap: fc.constantFrom("shift" as const, "skip" as const),
    fold: fc.constantFrom("first" as const, "last" as const, "both" as const),
  });
  // Half of the instants lie within a day of a change of clocks.
  const changes = WEEKENDS.flatMap(([, days]) => days.map((day) => Date.parse(day) + 20 * HOUR));
  const instant = fc.oneof(
    fc.integer({ min: Date.UTC(2024, 0, 1), max: Date.UTC(2027, 0, 1) }),
    fc.tuple(fc.constantFrom(...changes), fc.integer({ min: -DAY, max: DAY })).map(([at, by]) => at + by),
  );

  test("are strictly later and strictly earlier, and lead back to each other", () => {
    fc.assert(
      fc.property(anyCron, zone, anyDst, instant, (cron, name, dst, at) => {
        let ticks: ReturnType<typeof cronTicks>;
        try {
          ticks = cronTicks(cron, name, dst);
        } catch (error) {
          expect(error).toMatchObject({ code: "SCHEDULE_INVALID" });
          return;
        }
        const after = ticks.next(at);
        const before = ticks.previous(at);
        if (after === undefined || before === undefined) expect.fail(`${cron} has no tick around ${at}`);
        expect(after).toBeGreaterThan(at);
        expect(before).toBeLessThan(at);
        // Nothing lies between them but, at most, the instant itself.
        expect([after, at]).toContain(ticks.next(before));
        expect([before, at]).toContain(ticks.previous(after));
        expect(ticks.next(after - 1)).toBe(after);
        expect(ticks.previous(before + 1)).toBe(before);
      }),
      { numRuns: 150 },
    );
  });

  test("are those of the reference at random instants", () => {
    const drawn = fc.tuple(minute, hour, dow).map(([m, h, d]) => `${m} ${h} * * ${d === "SAT#1" ? "6" : d}`);
    fc.assert(
      fc.property(drawn, zone, anyDst, instant, (cron, name, dst, at) => {
        const from = Math.floor(at / MINUTE) * MINUTE;
        const expected = referenceTicks(cron, dst, minutesOf(name, from, from + 6 * HOUR));
        expect(shown(ticksBetween(cron, name, dst, from, from + 6 * HOUR))).toEqual(shown(expected));
      }),
      { numRuns: 12 },
    );
  });
});
