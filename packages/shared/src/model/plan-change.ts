// What a DAG's next run is once its file has changed. A change neither skips nor repeats an interval: what is due already
// is created as it was planned, and the new schedule goes on from where that ends.
import type { DagSpec } from "@millrace/sdk/spec";
import { boundsOf, pointerFor } from "./plan-runs.ts";
import { planNextRun, type Interval, type PlannedRun } from "./timetable/next-run.ts";
import { timeOf } from "./timetable/trigger-ticks.ts";

export interface DagChange {
  /** The DAG as it was; undefined when it is new. */
  readonly before: DagSpec | undefined;
  readonly after: DagSpec;
  /** Its next run as planned before. */
  readonly pointer: PlannedRun | undefined;
  readonly isPaused: boolean;
  /** Interval of the newest scheduled run. */
  readonly last: Interval | undefined;
  readonly now: number;
}

/** @throws AppError SCHEDULE_INVALID. */
export function pointerAfterChange(change: DagChange): PlannedRun | undefined {
  const { before, after, pointer, isPaused, last, now } = change;
  // An unpause plans anew in any case; until then this is what it would do.
  if (before === undefined || isPaused || pointer === undefined) return pointerFor(after, last, now);
  if (timingOf(before) === timingOf(after)) return pointer;
  if (isOwed(change, pointer)) return pointer;
  // Who ends a catchup wants what it still owes no more. Otherwise a change creates nothing by itself: without catchup it
  // goes on with the interval that is under way.
  const goesOn = after.catchup === false && last !== undefined && before.catchup !== true;
  const catchup = goesOn ? "none" : after.catchup;
  return planNextRun(after.schedule, { last, ...boundsOf(after), catchup, now });
}

/** Whether a run planned before the change is due, and wanted by the DAG as it is now. */
export function isOwed({ before, after, isPaused, now }: DagChange, run: PlannedRun): boolean {
  const { earliest = -Infinity, latest = Infinity } = boundsOf(after);
  return (
    !isPaused &&
    run.runAfter <= now &&
    timeOf(after.schedule).kind !== "none" &&
    run.logicalDate >= earliest &&
    run.logicalDate <= latest &&
    (before?.catchup !== true || after.catchup === true)
  );
}

/** What a schedule says, as a text that does not depend on the order of its keys: Postgres keeps another than a file. */
const timingOf = (spec: DagSpec): string =>
  JSON.stringify({ schedule: spec.schedule, catchup: spec.catchup, ...boundsOf(spec) }, (_, value: unknown) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? Object.fromEntries(Object.entries(value).sort(([one], [other]) => (one < other ? -1 : 1)))
      : value,
  );
