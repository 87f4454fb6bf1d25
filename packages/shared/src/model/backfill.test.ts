import { describe, expect, test } from "vitest";
import { datesOfBackfill, judgeDate, refuseBackfill, REPROCESS_BEHAVIORS, type BackfillWish } from "./backfill.ts";
import { dagSpec, taskSpec } from "./fixtures/dag.ts";
import { RUN_STATES } from "./run-state.ts";

const at = (iso: string) => Date.parse(iso);
const daily = { kind: "cron", cron: "0 0 * * *", timezone: "UTC", dst: { gap: "shift", fold: "first" } } as const;
const NOW = at("2026-03-10T12:00:00Z");

test("what becomes of a date depends on its run and on what is to be run again", () => {
  const verdicts = [undefined, ...RUN_STATES].map((state) => [
    state ?? "no run",
    ...REPROCESS_BEHAVIORS.map((behavior) => judgeDate(state, behavior)),
  ]);
  expect(verdicts).toEqual([
    ["no run", "create", "create", "create"],
    ["queued", "in flight", "in flight", "in flight"],
    ["running", "in flight", "in flight", "in flight"],
    ["success", "already exists", "already exists", "reprocess"],
    ["failed", "already exists", "reprocess", "reprocess"],
  ]);
});

describe("the dates of a range", () => {
  const dates = (from: string, to: string, given: { anchor?: number; seconds?: number } = {}) => {
    const schedule = given.seconds === undefined ? daily : ({ kind: "delta", seconds: given.seconds } as const);
    const range = { from: at(from), to: at(to), now: NOW, anchor: given.anchor };
    return [...datesOfBackfill(dagSpec([], { schedule, startDate: "2026-03-05", endDate: "2026-03-06" }), range)].map(
      (run) => new Date(run.logicalDate).toISOString().slice(5, 16),
    );
  };

  test("hold both ends, whatever the DAG's own dates are", () => {
    expect(dates("2026-03-04", "2026-03-07")).toEqual(["03-04T00:00", "03-05T00:00", "03-06T00:00", "03-07T00:00"]);
  });

  test("begin with the first that is not before the range", () => {
    expect(dates("2026-03-04T00:00:01Z", "2026-03-05T23:00:00Z")).toEqual(["03-05T00:00"]);
  });

  test("leave out what is not over yet", () => {
    expect(dates("2026-03-08", "2026-03-20")).toEqual(["03-08T00:00", "03-09T00:00"]);
  });

  test("of a delta begin with the range, or fall in with the intervals that there are", () => {
    expect(dates("2026-03-04", "2026-03-04T12:00:00Z", { seconds: 21_600 })).toEqual([
      "03-04T00:00",
      "03-04T06:00",
      "03-04T12:00",
    ]);
    const anchor = at("2026-03-09T01:30:00Z");
    expect(dates("2026-03-04", "2026-03-04T12:00:00Z", { seconds: 21_600, anchor })).toEqual([
      "03-04T01:30",
      "03-04T07:30",
    ]);
  });
});

describe("a backfill is refused", () => {
  const wish: BackfillWish = {
    from: at("2026-01-01"),
    to: at("2026-02-01"),
    now: NOW,
    runBackwards: false,
    reprocessBehavior: "none",
  };
  const plain = dagSpec([taskSpec("a")], { schedule: daily });
  const past = dagSpec([taskSpec("a"), taskSpec("b", { dependsOnPast: true })], { schedule: daily });

  test("for a DAG whose schedule has no dates of its own", () => {
    for (const kind of ["none", "once", "continuous"] as const) {
      expect(refuseBackfill(dagSpec([], { schedule: { kind } }), wish)).toEqual({ kind: "no_schedule" });
    }
    expect(refuseBackfill(plain, wish)).toBeUndefined();
  });

  test("for dates in the wrong order or in the future", () => {
    expect(refuseBackfill(plain, { ...wish, to: wish.from - 1 })).toMatchObject({ kind: "range" });
    expect(refuseBackfill(plain, { ...wish, from: NOW, to: NOW + 1 })).toMatchObject({ kind: "range" });
    expect(refuseBackfill(plain, { ...wish, to: NOW + 1 })).toBeUndefined();
  });

  test("backwards, or without running again, where tasks depend on their past", () => {
    expect(refuseBackfill(past, wish)).toMatchObject({ kind: "order", tasks: ["b"] });
    expect(refuseBackfill(past, { ...wish, reprocessBehavior: "failed" })).toBeUndefined();
    expect(refuseBackfill(past, { ...wish, reprocessBehavior: "failed", runBackwards: true })).toMatchObject({
      kind: "order",
    });
    expect(refuseBackfill(plain, { ...wish, runBackwards: true })).toBeUndefined();
  });
});
