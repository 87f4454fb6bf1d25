import type { Catchup, DagSpec, ScheduleSpec } from "@millrace/sdk/spec";
import { describe, expect, test } from "vitest";
import { dagSpec, taskSpec } from "./fixtures/dag.ts";
import { pointerAfterChange } from "./plan-change.ts";
import { followingRun, pointerFor } from "./plan-runs.ts";
import type { PlannedRun } from "./timetable/next-run.ts";

const dst = { gap: "shift", fold: "first" } as const;
const cron = (expression: string): ScheduleSpec => ({ kind: "cron", cron: expression, timezone: "UTC", dst });
const HOURLY = cron("0 * * * *");
const DAILY = cron("0 0 * * *");
const AT_SIX = cron("0 6 * * *");
const TICK: ScheduleSpec = { kind: "cronTrigger", cron: "0 * * * *", timezone: "UTC", dst };

const at = (iso: string): number => Date.parse(`2026-03-${iso}:00Z`);
const spec = (schedule: ScheduleSpec, catchup: Catchup = false, more: Partial<DagSpec> = {}): DagSpec => ({
  ...dagSpec([taskSpec("a")]),
  schedule,
  catchup,
  startDate: "2026-01-01T00:00:00.000Z",
  ...more,
});
const shown = (run: PlannedRun | undefined) =>
  run && [run.interval.start, run.interval.end].map((ms) => new Date(ms).toISOString().slice(8, 16)).join(" – ");

/** A DAG whose newest run is that of `last` and whose next one is planned, changed at `now`. */
function changed(before: DagSpec, after: DagSpec, last: readonly [string, string], now: string, isPaused = false) {
  const interval = { start: at(last[0]), end: at(last[1]) };
  const pointer = followingRun(before, { logicalDate: interval.start, interval, runAfter: interval.end }, interval.end);
  return pointerAfterChange({ before, after, pointer, isPaused, last: interval, now: at(now) });
}

describe("a change of schedule", () => {
  test("that leaves the times alone leaves the next run alone, however late it is", () => {
    const last = ["09T08:00", "09T09:00"] as const;
    expect(shown(changed(spec(HOURLY), spec(HOURLY, false, { tags: ["new"] }), last, "10T17:30"))).toBe(
      "09T09:00 – 09T10:00",
    );
  });

  test("to a coarser one begins where the last interval ended, and ends with the new schedule", () => {
    const next = changed(spec(HOURLY), spec(DAILY), ["09T09:00", "09T10:00"], "09T10:30");
    expect(shown(next)).toBe("09T10:00 – 10T00:00");
    expect(shown(followingRun(spec(DAILY), next ?? expect.fail(), at("10T00:00")))).toBe("10T00:00 – 11T00:00");
  });

  test("to a finer one creates nothing by itself, and with catchup all that lies between", () => {
    const last = ["08T00:00", "09T00:00"] as const;
    expect(shown(changed(spec(DAILY), spec(HOURLY), last, "09T10:30"))).toBe("09T10:00 – 09T11:00");
    expect(shown(changed(spec(DAILY, true), spec(HOURLY, true), last, "09T10:30"))).toBe("09T00:00 – 09T01:00");
  });

  test("twice on one day, after the first run, makes no run more", () => {
    const last = ["08T00:00", "09T00:00"] as const;
    const first = changed(spec(DAILY), spec(AT_SIX), last, "09T10:31");
    expect(shown(first)).toBe("09T06:00 – 10T06:00");
    const again = pointerAfterChange({
      before: spec(AT_SIX),
      after: spec(cron("0 9 * * *")),
      pointer: first,
      isPaused: false,
      last: { start: at(last[0]), end: at(last[1]) },
      now: at("09T10:32"),
    });
    expect(shown(again)).toBe("09T09:00 – 10T09:00");
  });

  test("leaves nothing out that was due already", () => {
    const next = changed(spec(HOURLY), spec(DAILY), ["09T07:00", "09T08:00"], "09T10:30");
    expect(shown(next)).toBe("09T08:00 – 09T09:00");
    expect(shown(followingRun(spec(DAILY), next ?? expect.fail(), at("09T10:30")))).toBe("09T09:00 – 10T00:00");
  });

  test("that ends a catchup gives up what it still owed, but for the latest", () => {
    const last = ["01T00:00", "01T01:00"] as const;
    expect(shown(changed(spec(HOURLY, true), spec(HOURLY, false), last, "09T10:30"))).toBe("09T09:00 – 09T10:00");
    expect(shown(changed(spec(HOURLY, true), spec(HOURLY, "none"), last, "09T10:30"))).toBe("09T10:00 – 09T11:00");
  });

  test("from instants to intervals begins after the last instant, whose date is taken", () => {
    const last = ["09T10:00", "09T10:00"] as const;
    const next = changed(spec(TICK), spec(HOURLY), last, "09T10:30");
    expect(next?.runAfter).toBe(at("09T11:00"));
    expect(next?.logicalDate).toBe(at("09T10:00") + 1);
    expect(shown(changed(spec(HOURLY), spec(TICK), ["09T09:00", "09T10:00"], "09T10:30"))).toBe("09T11:00 – 09T11:00");
  });

  test("to none, or to an end before it, drops what was planned", () => {
    const last = ["09T07:00", "09T08:00"] as const;
    expect(changed(spec(HOURLY), spec({ kind: "none" }), last, "09T10:30")).toBeUndefined();
    const ended = spec(HOURLY, false, { endDate: "2026-03-09T07:30:00.000Z" });
    expect(changed(spec(HOURLY), ended, last, "09T10:30")).toBeUndefined();
  });

  test("of a paused DAG is what an unpause would make of it", () => {
    const next = changed(spec(DAILY), spec(HOURLY), ["08T00:00", "09T00:00"], "09T10:30", true);
    expect(next).toEqual(pointerFor(spec(HOURLY), { start: at("08T00:00"), end: at("09T00:00") }, at("09T10:30")));
    expect(shown(next)).toBe("09T09:00 – 09T10:00");
  });

  test("any number of times never takes a date that is taken, and never overlaps", () => {
    const schedules = [HOURLY, DAILY, AT_SIX, TICK, { kind: "delta", seconds: 5_000 } as const, cron("*/7 * * * *")];
    let random = 7;
    const draw = (n: number) => (random = (random * 48_271) % 2_147_483_647) % n;
    for (let round = 0; round < 40; round++) {
      let now = at("01T00:30");
      let current = spec(HOURLY);
      let pointer = pointerFor(current, undefined, now);
      let last: PlannedRun["interval"] | undefined;
      for (let step = 0; step < 60; step++) {
        now += draw(5_400_000);
        while (pointer !== undefined && pointer.runAfter <= now) {
          if (last !== undefined) {
            expect(pointer.logicalDate).toBeGreaterThan(last.start);
            expect(pointer.interval.start).toBeGreaterThanOrEqual(last.end);
          }
          last = pointer.interval;
          pointer = followingRun(current, pointer, now);
        }
        const after = spec(schedules[draw(schedules.length)] ?? HOURLY, [false, true, "none"][draw(3)] as Catchup);
        pointer = pointerAfterChange({ before: current, after, pointer, isPaused: false, last, now });
        current = after;
      }
    }
  });
});
