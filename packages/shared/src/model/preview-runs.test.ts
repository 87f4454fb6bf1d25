import type { Catchup, DagSpec, DstPolicy, ScheduleSpec } from "@millrace/sdk/spec";
import { describe, expect, test } from "vitest";
import { dagSpec, taskSpec } from "./fixtures/dag.ts";
import { countDueRuns, dueRuns, pointerFor } from "./plan-runs.ts";
import { COUNTED_AT_MOST, previewRuns, type PreviewRequest } from "./preview-runs.ts";
import { summarizePreview } from "./summarize-preview.ts";

const at = (iso: string): number => Date.parse(iso);
const SHIFT: DstPolicy = { gap: "shift", fold: "first" };
const cron = (
  expression: string,
  timezone = "UTC",
  dst = SHIFT,
  kind: "cron" | "cronTrigger" = "cron",
): ScheduleSpec => ({
  kind,
  cron: expression,
  timezone,
  dst,
});
const spec = (schedule: ScheduleSpec, catchup: Catchup = false, more: Partial<DagSpec> = {}): DagSpec => ({
  ...dagSpec([taskSpec("a")]),
  schedule,
  catchup,
  ...more,
});

function preview(dag: DagSpec, now: string, until: string, more: Partial<PreviewRequest> = {}) {
  return previewRuns({
    spec: dag,
    first: pointerFor(dag, undefined, at(now)),
    planned: [],
    ended: false,
    from: -Infinity,
    until: at(until),
    now: at(now),
    limit: 100,
    taken: new Set(),
    ...more,
  });
}
const lines = (shown: ReturnType<typeof preview>) =>
  shown.runs.map(({ local, remarks }) => [local.runAfter, ...remarks].join(" | "));

describe("a preview", () => {
  test("of the tutorial's DAG of 2015-12-01, picked up on 2016-01-02 at 06:00, is one run at once and the next at midnight", () => {
    const tutorial = (schedule: ScheduleSpec, catchup: Catchup) => {
      const dag = spec(schedule, catchup, { startDate: "2015-12-01T00:00:00.000Z" });
      return preview(dag, "2016-01-02T06:00Z", "2016-01-03T12:00Z");
    };
    const daily = tutorial(cron("0 0 * * *"), false);
    expect(daily.runs.map(({ local, isDue }) => [local.start, local.end, isDue])).toEqual([
      ["2016-01-01T00:00:00+00:00", "2016-01-02T00:00:00+00:00", true],
      ["2016-01-02T00:00:00+00:00", "2016-01-03T00:00:00+00:00", false],
    ]);
    const delta = tutorial({ kind: "delta", seconds: 86_400 }, false);
    expect(delta.runs.map(({ local }) => [local.start, local.end])[0]).toEqual([
      "2016-01-01T06:00:00+00:00",
      "2016-01-02T06:00:00+00:00",
    ]);
    const all = tutorial(cron("0 0 * * *"), true);
    expect(all).toMatchObject({ total: 33, due: 32 });
    expect(all.runs[0]?.local.start).toBe("2015-12-01T00:00:00+00:00");
    expect(tutorial(cron("0 0 * * *"), "none")).toMatchObject({ total: 1, due: 0 });
  });

  test("says what clocks do: a time that is missing, one that comes twice, and intervals of 23 and 25 hours", () => {
    const berlin = (expression: string, dst: DstPolicy, kind: "cron" | "cronTrigger", day: string) =>
      lines(
        preview(
          spec(cron(expression, "Europe/Berlin", dst, kind), "none"),
          `${day}T12:00Z`,
          new Date(at(`${day}T12:00Z`) + 3 * 86_400_000).toISOString(),
        ),
      );
    expect(berlin("30 2 * * *", SHIFT, "cronTrigger", "2026-03-27")).toEqual([
      "2026-03-28T02:30:00+01:00",
      "2026-03-29T03:30:00+02:00 | 02:30 does not exist on this day: runs at 03:30",
      "2026-03-30T02:30:00+02:00",
    ]);
    const fold = (which: DstPolicy["fold"]) =>
      berlin("30 2 * * *", { gap: "shift", fold: which }, "cronTrigger", "2026-10-24").slice(0, 2);
    expect(fold("first")[0]).toBe("2026-10-25T02:30:00+02:00 | 02:30 comes twice on this day: this is the first");
    expect(fold("last")[0]).toBe("2026-10-25T02:30:00+01:00 | 02:30 comes twice on this day: this is the second");
    expect(fold("both")).toEqual([fold("first")[0], fold("last")[0]]);
    expect(berlin("0 0 * * *", SHIFT, "cron", "2026-03-28")).toContain(
      "2026-03-30T00:00:00+02:00 | clocks go forward in its interval, which has 23 hours",
    );
    expect(berlin("0 0 * * *", SHIFT, "cron", "2026-10-24")).toContain(
      "2026-10-26T00:00:00+01:00 | clocks go back in its interval, which has 25 hours",
    );
    expect(berlin("30 2 * * *", { gap: "skip", fold: "first" }, "cron", "2026-03-28")).toEqual([
      "2026-03-30T02:30:00+02:00 | 02:30 does not exist on 2026-03-29 and is left out | clocks go forward in its interval, which has 47 hours",
      "2026-03-31T02:30:00+02:00",
    ]);
  });

  test("is what the scheduler creates, step by step, whenever it looks", () => {
    const schedules = [
      cron("0 */5 * * 1-5", "Europe/Berlin"),
      cron("30 2 * * *", "Europe/Berlin", SHIFT, "cronTrigger"),
      { kind: "delta", seconds: 12_345 } as const,
      { kind: "multipleCron", crons: ["0 9 * * *", "0 */9 * * *"], timezone: "UTC", dst: SHIFT } as const,
      {
        kind: "events",
        events: ["2026-03-27T00:00:00.000Z", "2026-03-30T00:00:00.000Z"],
        restrictToEvents: false,
      } as const,
      { kind: "once" } as const,
    ];
    for (const schedule of schedules) {
      for (const catchup of [true, false, "none"] as const) {
        const dag = spec(schedule, catchup, {
          startDate: "2026-03-20T00:00:00.000Z",
          endDate: "2026-04-02T00:00:00.000Z",
        });
        const [now, until] = [at("2026-03-26T07:00Z"), at("2026-04-05T00:00Z")];
        const created: number[] = [];
        let pointer = pointerFor(dag, undefined, now);
        for (let clock = now; clock <= until; clock += 5 * 3_600_000) {
          const due = dueRuns(dag, pointer, clock, 1_000);
          created.push(...due.runs.map((run) => run.logicalDate));
          pointer = due.next;
        }
        const shown = preview(dag, "2026-03-26T07:00Z", "2026-04-04T22:00Z", { limit: 1_000 });
        expect({ schedule, catchup, dates: shown.runs.map(({ run }) => run.logicalDate) }).toEqual({
          schedule,
          catchup,
          dates: created,
        });
        expect(shown.total).toBe(created.length);
      }
    }
  });

  test("counts what it does not show, leaves out what exists, and stops counting somewhere", () => {
    const dag = spec(cron("0 * * * *"), true, { startDate: "2026-01-01T00:00:00.000Z" });
    const shown = preview(dag, "2026-01-11T00:30Z", "2026-01-12T00:00Z", {
      limit: 2,
      from: at("2026-01-11T01:00Z"),
      taken: new Set([at("2026-01-01T05:00Z"), at("2026-01-11T00:00Z")]),
    });
    expect(shown).toMatchObject({
      total: 23,
      due: 239,
      earlier: 239,
      isComplete: true,
      remarks: ["22 more are not shown"],
    });
    expect(shown.runs[0]).toMatchObject({
      isCreated: false,
      remarks: ["there is a run for this interval already: no other is created"],
    });
    const counted: number[] = [];
    const minutely = preview(
      spec(cron("* * * * *"), true, { startDate: "2020-01-01T00:00:00.000Z" }),
      "2026-01-01T00:00Z",
      "2026-01-02T00:00Z",
      { onCounted: (runs) => counted.push(runs) },
    );
    expect([counted.length, ...counted.slice(0, 2), counted.at(-1)]).toEqual([100, 1_000, 2_000, COUNTED_AT_MOST]);
    expect(minutely).toMatchObject({ isComplete: false, total: COUNTED_AT_MOST });
    expect(minutely.remarks[0]).toMatch(/^counting stopped after 100,000 runs, at 2020-03-10/);
    expect(minutely.runs).toHaveLength(100);
  });

  test("of a continuous DAG is its next run, and of a custom one what was planned", () => {
    const continuous = preview(spec({ kind: "continuous" }), "2026-01-01T00:00Z", "2026-01-02T00:00Z");
    expect(continuous).toMatchObject({ total: 1, remarks: ["the next run follows whenever the one before has ended"] });
    const custom = spec({ kind: "custom", name: "mine", summary: "mine" });
    const planned = [1, 2].map((hour) => ({
      logicalDate: hour * 3_600_000,
      interval: { start: hour * 3_600_000, end: hour * 3_600_000 },
      runAfter: hour * 3_600_000,
    }));
    const shown = preview(custom, "1970-01-01T00:00Z", "1970-01-02T00:00Z", { planned, first: planned[0] });
    expect(shown.runs).toHaveLength(2);
    expect(shown.remarks).toEqual(["its timetable was asked up to 1970-01-01T02:00:00.000Z"]);
    expect(preview(custom, "1970-01-01T00:00Z", "1970-01-02T00:00Z").remarks).toEqual([
      "its timetable has not been asked yet",
    ]);
  });

  test("is summed up in a sentence", () => {
    const say = (more: object) =>
      summarizePreview({
        dagId: "report",
        isPaused: false,
        isHeld: false,
        maxActiveRuns: 16,
        now: new Date("2026-01-01T00:00Z"),
        from: null,
        until: new Date("2026-01-08T00:00Z"),
        total: 8,
        due: 0,
        isComplete: true,
        ...more,
      });
    expect(say({})).toBe("report creates 8 runs until 2026-01-08 00:00 UTC.");
    expect(say({ isPaused: true, total: 1, due: 1 })).toBe(
      "Unpausing report now creates 1 run, at once until 2026-01-08 00:00 UTC.",
    );
    expect(say({ isPaused: true, isHeld: true, due: 1 })).toBe(
      "report is paused and creates no runs. Unpausing it now would create 8 runs, 1 of them at once until 2026-01-08 00:00 UTC.",
    );
    expect(say({ total: 3_000, due: 2_900 })).toMatch(
      /3,000 runs, 2,900 of them at once .* No more than 16 are active at a time/,
    );
    expect(say({ total: 0 })).toBe("report creates no run until 2026-01-08 00:00 UTC.");
  });
});

test("what a catchup owes is counted, and estimated where it is very much", () => {
  const dag = spec(cron("0 * * * *"), true, { startDate: "2026-01-01T00:00:00.000Z" });
  const count = (until: string) => countDueRuns(dag, pointerFor(dag, undefined, 0), at(until));
  expect(count("2026-01-01T00:59Z")).toEqual({ count: 0, isExact: true });
  expect(count("2026-01-02T00:00Z")).toEqual({ count: 24, isExact: true });
  const far = count("2036-01-01T00:00Z");
  expect(far.isExact).toBe(false);
  expect(Math.abs(far.count - 87_648)).toBeLessThan(1_001);
});
