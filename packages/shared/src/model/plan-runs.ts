// Which runs a DAG's schedule asks for now, and what belongs to each of them. Pure.
import type { DagSpec, TaskSpec } from "@millrace/sdk/spec";
import type { RunType } from "./run-state.ts";
import { planNextRun, type Interval, type PlannedRun } from "./timetable/next-run.ts";

/**
 * The run after the one of `lastInterval` (undefined: there is none yet). Undefined: no further one. The DAG's first
 * date is the earliest of its own and its tasks'; its last is its own, unless every task has one and the last is later.
 * @throws AppError SCHEDULE_INVALID.
 */
export function pointerFor(spec: DagSpec, lastInterval: Interval | undefined, nowMs: number): PlannedRun | undefined {
  const instant = (date: string | undefined) => (date === undefined ? undefined : Date.parse(date));
  const starts = [spec.startDate, ...spec.tasks.map((task) => task.startDate)].flatMap((date) => instant(date) ?? []);
  const taskEnds = spec.tasks.flatMap((task) => instant(task.endDate) ?? []);
  const everyTaskEnds = taskEnds.length > 0 && taskEnds.length === spec.tasks.length;
  const ends = [instant(spec.endDate) ?? [], everyTaskEnds ? taskEnds : []].flat();
  return planNextRun(spec.schedule, {
    last: lastInterval,
    earliest: starts.length === 0 ? undefined : Math.min(...starts),
    latest: ends.length === 0 ? undefined : Math.max(...ends),
    catchup: spec.catchup,
    now: nowMs,
  });
}

export interface DueRuns {
  readonly runs: readonly PlannedRun[];
  /** Undefined: the schedule asks for no more. */
  readonly next: PlannedRun | undefined;
  /** Set when the schedule failed: the runs before that are due all the same, and there is no next one. */
  readonly failure?: unknown;
}

/** The runs that are due now, from the one that `pointer` names, and the one after them. */
export function dueRuns(spec: DagSpec, pointer: PlannedRun | undefined, nowMs: number, atMost: number): DueRuns {
  const runs: PlannedRun[] = [];
  let next = pointer;
  while (next !== undefined && next.runAfter <= nowMs && runs.length < atMost) {
    runs.push(next);
    // As it would have been planned in time: what was missed while nobody was there to create it is not skipped. Only a
    // continuous schedule asks for what has passed since.
    try {
      next = pointerFor(spec, next.interval, spec.schedule.kind === "continuous" ? nowMs : next.runAfter);
    } catch (failure) {
      return { runs, next: undefined, failure };
    }
  }
  return { runs, next };
}

/** The id of a run that a schedule created. */
export const scheduledRunId = (runAfter: number): string =>
  `scheduled__${new Date(runAfter).toISOString().replace(/(\.000)?Z$/, "+00:00")}`;

interface DatedRun {
  readonly logicalDate: number | null;
  readonly runType: RunType;
}

/** A task with dates of its own takes part only in runs within them; backfills ask for what they want. */
export function isWithinDates(task: TaskSpec, run: DatedRun): boolean {
  if (run.logicalDate === null || run.runType === "backfill") return true;
  const start = task.startDate === undefined ? -Infinity : Date.parse(task.startDate);
  const end = task.endDate === undefined ? Infinity : Date.parse(task.endDate);
  return run.logicalDate >= start && run.logicalDate <= end;
}
