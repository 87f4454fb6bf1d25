// Which run a schedule asks for next, as pure arithmetic on instants in milliseconds: the scheduler stores the answer
// on the dag row and creates the run when the database's clock reaches it.
import type { Catchup, ScheduleSpec } from "@millrace/sdk/spec";
import { cronTicks, type CronTicks } from "./cron-ticks.ts";

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

/** @throws AppError SCHEDULE_INVALID. */
export function planNextRun(schedule: ScheduleSpec, request: PlanRequest): PlannedRun | undefined {
  const run = planUnbounded(schedule, request);
  return run === undefined || run.logicalDate > (request.latest ?? Infinity) ? undefined : run;
}

function planUnbounded(schedule: ScheduleSpec, request: PlanRequest): PlannedRun | undefined {
  const { last, earliest, catchup, now } = request;
  switch (schedule.kind) {
    case "none":
      return undefined;
    case "once":
      return last === undefined ? instantRun(earliest ?? now) : undefined;
    case "continuous": {
      const start = last?.end ?? earliest ?? now;
      const end = Math.max(start, now);
      return { logicalDate: start, interval: { start, end }, runAfter: end };
    }
    case "cron":
      return planInterval(cronGrid(cronTicks(schedule.cron, schedule.timezone, schedule.dst)), request);
    case "delta":
      return planInterval(deltaGrid(schedule.seconds * 1000, request), request);
    case "cronTrigger": {
      const ticks = cronTicks(schedule.cron, schedule.timezone, schedule.dst);
      const from = Math.max(last === undefined ? -Infinity : last.end + 1, earliest ?? -Infinity);
      if (catchup === true) return from === -Infinity ? undefined : tickAt(ticks, from);
      const recent = catchup === "none" ? now : (ticks.previous(now + 1) ?? now);
      return tickAt(ticks, Math.max(from, recent));
    }
  }
}

const instantRun = (at: number): PlannedRun => ({ logicalDate: at, interval: { start: at, end: at }, runAfter: at });

function tickAt(ticks: CronTicks, from: number): PlannedRun | undefined {
  const tick = ticks.next(from - 1);
  return tick === undefined ? undefined : instantRun(tick);
}

/** A schedule as adjoining intervals: where one starts at or after an instant, and where the one from a start ends. */
interface Grid {
  readonly startAtOrAfter: (instant: number) => number | undefined;
  readonly endOf: (start: number) => number | undefined;
  /** Start of the latest interval that is over at `now`. */
  readonly latestComplete: (now: number) => number | undefined;
  /** Start of the interval that `now` lies in. */
  readonly current: (now: number) => number | undefined;
}

function cronGrid(ticks: CronTicks): Grid {
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
  const from = Math.max(last?.end ?? -Infinity, earliest ?? -Infinity, skipTo ?? -Infinity);
  const start = grid.startAtOrAfter(from);
  const end = start === undefined ? undefined : grid.endOf(start);
  return start === undefined || end === undefined
    ? undefined
    : { logicalDate: start, interval: { start, end }, runAfter: end };
}

/** The data interval of a manual run at `at`: the latest complete one for a schedule of intervals, else the instant. */
export function inferManualInterval(schedule: ScheduleSpec, at: number): Interval {
  const exact = { start: at, end: at };
  if (schedule.kind === "delta") return { start: at - schedule.seconds * 1000, end: at };
  if (schedule.kind !== "cron") return exact;
  const ticks = cronTicks(schedule.cron, schedule.timezone, schedule.dst);
  const end = ticks.previous(at + 1);
  const start = end === undefined ? undefined : ticks.previous(end);
  return start === undefined || end === undefined ? exact : { start, end };
}

/** Whether no later run of the schedule was due at `now`; `interval` is that of a run of this schedule. */
export function isLatestInterval(schedule: ScheduleSpec, interval: Interval, now: number): boolean {
  const next = planNextRun(schedule, { last: interval, earliest: undefined, latest: undefined, catchup: true, now });
  return next === undefined || now < next.runAfter;
}

/** A schedule in words for a list: the cron itself, or what it is. */
export function summarizeSchedule(schedule: ScheduleSpec): string {
  switch (schedule.kind) {
    case "cron":
    case "cronTrigger":
      return schedule.cron;
    case "delta":
      return `every ${schedule.seconds} s`;
    case "once":
    case "continuous":
      return `@${schedule.kind}`;
    case "none":
      return "None";
  }
}
