import { expect, test } from "vitest";
import { dagSpec, taskSpec } from "./fixtures/dag.ts";
import { dueRuns, isWithinDates, pointerFor, scheduledRunId } from "./plan-runs.ts";

const HOURLY = dagSpec([taskSpec("a")], {
  schedule: { kind: "cron", cron: "0 * * * *", timezone: "UTC", dst: { gap: "shift", fold: "first" } },
  startDate: "2026-01-01T00:00:00Z",
  catchup: true,
});
const at = (text: string) => Date.parse(text);

test("gives every interval that is over, as many as are asked for, and the one after them", () => {
  const pointer = pointerFor(HOURLY, undefined, at("2026-01-01T00:00:00Z"));
  const all = dueRuns(HOURLY, pointer, at("2026-01-01T03:30:00Z"), 50);
  expect(all.runs.map((run) => new Date(run.runAfter).getUTCHours())).toEqual([1, 2, 3]);
  expect(all.next?.runAfter).toBe(at("2026-01-01T04:00:00Z"));
  const some = dueRuns(HOURLY, pointer, at("2026-01-01T03:30:00Z"), 2);
  expect(some.next?.runAfter).toBe(at("2026-01-01T03:00:00Z"));
});

test("a schedule that fails keeps the runs that were due before, and has no next one", () => {
  const broken = { ...HOURLY, schedule: { ...HOURLY.schedule, cron: "no" } as typeof HOURLY.schedule };
  const pointer = pointerFor(HOURLY, undefined, at("2026-01-01T00:00:00Z"));
  const due = dueRuns(broken, pointer, at("2026-01-01T03:30:00Z"), 50);
  expect(due.runs).toHaveLength(1);
  expect(due.next).toBeUndefined();
  expect(due.failure).toMatchObject({ code: "SCHEDULE_INVALID" });
});

test("a scheduled run is named after when it may start", () => {
  expect(scheduledRunId(at("2026-01-01T01:00:00Z"))).toBe("scheduled__2026-01-01T01:00:00+00:00");
});

test("a task with dates of its own is in the runs within them, and in every backfill", () => {
  const task = taskSpec("a", { startDate: "2026-01-02T00:00:00Z", endDate: "2026-01-03T00:00:00Z" });
  const within = (day: number, runType: "scheduled" | "backfill" = "scheduled") =>
    isWithinDates(task, { logicalDate: at(`2026-01-0${day}T00:00:00Z`), runType });
  expect([within(1), within(2), within(3), within(4), within(4, "backfill")]).toEqual([false, true, true, false, true]);
});
