// Which run a schedule asks for next, as pure arithmetic on instants in milliseconds: the scheduler stores the answer
// on the dag row and creates the run when the database's clock reaches it. Two rules hold for every kind of schedule.
// INVARIANT: a run is strictly later than the one before it, in logical date and in time.
// INVARIANT: an interval never overlaps the one before it. After a change of schedule, where the last interval ends
// between two ticks of the new one, the first interval starts where that one ended, so that nothing is left out either.
import type { Catchup, ScheduleSpec } from "@millrace/sdk/spec";
import { cronTicks, type CronTicks } from "./cron-ticks.ts";
import { timeOf, triggerTicks, type TriggerTicks } from "./trigger-ticks.ts";

export interface Interval {
  readonly start: number;
  readonly end: number;
}

export interface PlannedRun {
  readonly logicalDate: number;
  readonly interval: Interval;
  /** The run may start from here on. */
  readonly runAfter: number;
}

export interface PlanRequest {
  /** Data interval of the newest scheduled run; undefined when there is none. */
  readonly last: Interval | undefined;
  /** No interval starts before; undefined without a start date. */
  readonly earliest: number | undefined;
  /** No interval starts after; undefined without an end date. */
  readonly latest: number | undefined;
  readonly catchup: Catchup;
  readonly now: number;
}

/**
 * Undefined: there is no further run. A custom schedule has none here: its answers are stored, not computed.
 * @throws AppError SCHEDULE_INVALID.
 */
export function planNextRun(schedule: ScheduleSpec, request: PlanRequest): PlannedRun | undefined {
  const run = planUnbounded(schedule, request);
  return run === undefined || run.logicalDate > (request.latest ?? Infinity) ? undefined : run;
}

function planUnbounded(given: ScheduleSpec, request: PlanRequest): PlannedRun | undefined {
  const { last, earliest, now } = request;
  const schedule = timeOf(given);
  switch (schedule.kind) {
    case "none":
    case "custom":
      return undefined;
    case "once":
      return last === undefined ? instantRun(earliest ?? now) : undefined;
    case "continuous": {
      const start = last === undefined ? (earliest ?? now) : startAfter(last);
      return intervalRun(start, Math.max(start, now));
    }
    case "cron":
      return planInterval(cronGrid(cronTicks(schedule.cron, schedule.timezone, schedule.dst)), request);
    case "delta":
      return planInterval(deltaGrid(schedule.seconds * 1000, request), request);
    default: {
      const ticks = triggerTicks(schedule);
      return ticks === undefined ? undefined : planTick(ticks, request);
    }
  }
}

export const instantRun = (at: number, intervalMs = 0): PlannedRun => ({
  logicalDate: at - intervalMs,
  interval: { start: at - intervalMs, end: at },
  runAfter: at,
});

export const intervalRun = (start: number, end: number): PlannedRun => ({
  logicalDate: start,
  interval: { start, end },
  runAfter: end,
});

/** Where the next interval begins: at the end of the last, and after it if that was an instant, whose date is taken. */
const startAfter = (last: Interval): number => (last.end > last.start ? last.end : last.end + 1);

function planTick(ticks: TriggerTicks, { last, earliest, catchup, now }: PlanRequest): PlannedRun | undefined {
  const from = Math.max(last === undefined ? -Infinity : last.end + 1, earliest ?? -Infinity);
  if (catchup === true && from === -Infinity) return undefined;
  const recent = catchup === true ? from : catchup === "none" ? now : (ticks.previous(now + 1) ?? now);
  const tick = ticks.next(Math.max(from, recent) - 1);
  return tick === undefined ? undefined : instantRun(tick, ticks.intervalMs);
}

/** A schedule as adjoining intervals: where one starts at or after an instant, and where the one from a start ends. */
export interface Grid {
  readonly startAtOrAfter: (instant: number) => number | undefined;
  readonly endOf: (start: number) => number | undefined;
  /** Start of the latest interval that is over at `now`. */
  readonly latestComplete: (now: number) => number | undefined;
  /** Start of the interval that `now` lies in. */
  readonly current: (now: number) => number | undefined;
}

export function cronGrid(ticks: CronTicks): Grid {
  const atOrBefore = (instant: number) => ticks.previous(instant + 1);
  return {
    startAtOrAfter: (instant) => ticks.next(instant - 1),
    endOf: (start) => ticks.next(start),
    latestComplete: (now) => {
      const end = atOrBefore(now);
      return end === undefined ? undefined : ticks.previous(end);
    },
    current: atOrBefore,
  };
}

/** A delta is not aligned to anything but its own first run: without catchup that covers [now - delta, now]. */
function deltaGrid(delta: number, request: PlanRequest): Grid {
  const anchor = request.last?.end ?? (request.catchup === true ? request.earliest : undefined);
  return alignedDelta(delta, anchor);
}

export function alignedDelta(delta: number, anchor: number | undefined): Grid {
  const floor = (instant: number) =>
    anchor === undefined ? instant : anchor + Math.floor((instant - anchor) / delta) * delta;
  return {
    startAtOrAfter: (instant) => (floor(instant) === instant ? instant : floor(instant) + delta),
    endOf: (start) => start + delta,
    latestComplete: (now) => floor(now) - delta,
    current: floor,
  };
}

function planInterval(grid: Grid, { last, earliest, catchup, now }: PlanRequest): PlannedRun | undefined {
  const skipTo = catchup === true ? undefined : catchup === "none" ? grid.current(now) : grid.latestComplete(now);
  if (last === undefined && earliest === undefined && skipTo === undefined) return undefined;
  const ended = last === undefined ? -Infinity : startAfter(last);
  const from = Math.max(ended, earliest ?? -Infinity, skipTo ?? -Infinity);
  const start = from === ended ? ended : grid.startAtOrAfter(from);
  const end = start === undefined ? undefined : grid.endOf(start);
  return start === undefined || end === undefined ? undefined : intervalRun(start, end);
}

/** Whether no later run of the schedule was due at `now`; `interval` is that of a run of this schedule. */
export function isLatestInterval(schedule: ScheduleSpec, interval: Interval, now: number): boolean {
  const next = planNextRun(schedule, { last: interval, earliest: undefined, latest: undefined, catchup: true, now });
  return next === undefined || now < next.runAfter;
}
