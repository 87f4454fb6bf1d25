// All runs that a schedule has in a range of dates, forwards or backwards, one at a time: for backfills, for previews of
// what is to come, and for counting what a catchup would create. Start and end dates of a DAG and its catchup play no part.
import type { ScheduleSpec } from "@millrace/sdk/spec";
import { AppError } from "../../errors/index.ts";
import { cronTicks } from "./cron-ticks.ts";
import { alignedDelta, cronGrid, instantRun, intervalRun, type Grid, type PlannedRun } from "./next-run.ts";
import { timeOf, triggerTicks, type TriggerTicks } from "./trigger-ticks.ts";

export interface RunRange {
  /** Logical dates from here on, in milliseconds. */
  readonly from: number;
  /** Up to and including this one. */
  readonly to: number;
  /** The end of an interval of a delta, which is aligned to nothing else. @default from */
  readonly anchor?: number;
  /** The latest first. @default false */
  readonly backwards?: boolean;
}

/**
 * Ends by itself. Nothing for a schedule without dates of its own: `none`, `once` and `continuous`.
 * @throws AppError SCHEDULE_INVALID, also for a custom schedule, which only the dag-processor can ask.
 */
export function* runsBetween(given: ScheduleSpec, range: RunRange): Generator<PlannedRun, void> {
  const schedule = timeOf(given);
  switch (schedule.kind) {
    case "none":
    case "once":
    case "continuous":
      return;
    case "custom":
      throw new AppError("SCHEDULE_INVALID", {
        schedule: `"${schedule.summary}"`,
        cause: `the timetable ${schedule.name} is code of the DAG's file, which plans ahead but not for a range of dates`,
      });
    case "cron":
      return yield* intervals(cronGrid(cronTicks(schedule.cron, schedule.timezone, schedule.dst)), range);
    case "delta":
      return yield* intervals(alignedDelta(schedule.seconds * 1000, range.anchor ?? range.from), range);
    default: {
      const ticks = triggerTicks(schedule);
      if (ticks !== undefined) yield* instants(ticks, range);
    }
  }
}

function* intervals(grid: Grid, { from, to, backwards = false }: RunRange): Generator<PlannedRun, void> {
  let start = backwards ? grid.current(to) : grid.startAtOrAfter(from);
  while (start !== undefined && start >= from && start <= to) {
    const end = grid.endOf(start);
    if (end === undefined) return;
    yield intervalRun(start, end);
    start = backwards ? grid.current(start - 1) : end;
  }
}

function* instants(ticks: TriggerTicks, { from, to, backwards = false }: RunRange): Generator<PlannedRun, void> {
  const [first, last] = [from + ticks.intervalMs, to + ticks.intervalMs];
  let tick = backwards ? ticks.previous(last + 1) : ticks.next(first - 1);
  while (tick !== undefined && tick >= first && tick <= last) {
    yield instantRun(tick, ticks.intervalMs);
    tick = backwards ? ticks.previous(tick) : ticks.next(tick);
  }
}
