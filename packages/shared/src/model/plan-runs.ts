// Which runs a DAG's schedule asks for now, and what belongs to each of them. Pure.
import type { DagSpec, TaskSpec } from "@millrace/sdk/spec";
import type { RunType } from "./run-state.ts";
import { planNextRun, type Interval, type PlannedRun } from "./timetable/next-run.ts";
import { runsBetween } from "./timetable/runs-between.ts";
import { timeOf } from "./timetable/trigger-ticks.ts";

/**
 * The DAG's first date is the earliest of its own and its tasks'; its last is its own, unless every task has one and the
 * last is later.
 */
export function boundsOf(spec: DatedSpec): Bounds {
  const found = bounds.get(spec);
  if (found !== undefined) return found;
  const read = readBounds(spec);
  bounds.set(spec, read);
  return read;
}

type DatedSpec = Pick<DagSpec, "startDate" | "endDate" | "tasks">;

interface Bounds {
  readonly earliest: number | undefined;
  readonly latest: number | undefined;
}

/** A spec is never changed, and is asked about with every run. */
const bounds = new WeakMap<DatedSpec, Bounds>();

function readBounds(spec: DatedSpec): Bounds {
  const instant = (date: string | undefined) => (date === undefined ? undefined : Date.parse(date));
  const starts = [spec.startDate, ...spec.tasks.map((task) => task.startDate)].flatMap((date) => instant(date) ?? []);
  const taskEnds = spec.tasks.flatMap((task) => instant(task.endDate) ?? []);
  const everyTaskEnds = taskEnds.length > 0 && taskEnds.length === spec.tasks.length;
  const ends = [instant(spec.endDate) ?? [], everyTaskEnds ? taskEnds : []].flat();
  return {
    earliest: starts.length === 0 ? undefined : Math.min(...starts),
    latest: ends.length === 0 ? undefined : Math.max(...ends),
  };
}

/**
 * The run after the one of `lastInterval` (undefined: there is none yet). Undefined: no further one.
 * @throws AppError SCHEDULE_INVALID.
 */
export function pointerFor(spec: DagSpec, lastInterval: Interval | undefined, nowMs: number): PlannedRun | undefined {
  return planNextRun(spec.schedule, { last: lastInterval, ...boundsOf(spec), catchup: spec.catchup, now: nowMs });
}

/**
 * The run after one that was created. As it would have been planned in time: what was missed while nobody was there to
 * create it is not skipped. Only a continuous schedule asks for what has passed since.
 * @param planned what a custom schedule asks for, in the order of time
 * @throws AppError SCHEDULE_INVALID.
 */
export function followingRun(
  spec: DagSpec,
  run: PlannedRun,
  nowMs: number,
  planned: readonly PlannedRun[] = [],
): PlannedRun | undefined {
  const { kind } = timeOf(spec.schedule);
  if (kind === "custom") return planned.find((next) => next.logicalDate > run.logicalDate);
  return pointerFor(spec, run.interval, kind === "continuous" ? nowMs : run.runAfter);
}

export interface DueRuns {
  readonly runs: readonly PlannedRun[];
  /** Undefined: the schedule asks for no more. */
  readonly next: PlannedRun | undefined;
  /** Set when the schedule failed: the runs before that are due all the same, and there is no next one. */
  readonly failure?: unknown;
}

/** The runs that are due now, from the one that `pointer` names, and the one after them. */
export function dueRuns(
  spec: DagSpec,
  pointer: PlannedRun | undefined,
  nowMs: number,
  atMost: number,
  planned?: readonly PlannedRun[],
): DueRuns {
  const runs: PlannedRun[] = [];
  let next = pointer;
  while (next !== undefined && next.runAfter <= nowMs && runs.length < atMost) {
    runs.push(next);
    try {
      next = followingRun(spec, next, nowMs, planned);
    } catch (failure) {
      return { runs, next: undefined, failure };
    }
  }
  return { runs, next };
}

/** The id of a run that a schedule created. */
export function scheduledRunId(runAfter: number): string {
  const iso = new Date(runAfter).toISOString();
  return `scheduled__${iso.slice(0, iso.endsWith(".000Z") ? -5 : -1)}+00:00`;
}

/** The id of a run that assets started: several can start in one millisecond. @param random 8 letters or digits */
export const assetRunId = (runAfter: number, random: string): string =>
  `asset_triggered__${new Date(runAfter).toISOString().replace(/Z$/, "+00:00")}_${random}`;

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

/** Counted one by one up to here; beyond it the rest of the time is taken to be as full as what was counted. */
const COUNTED = 20_000;

/** How many runs from `first` on are due at `nowMs`, without their being created. */
export function countDueRuns(
  spec: DagSpec,
  first: PlannedRun | undefined,
  nowMs: number,
): { readonly count: number; readonly isExact: boolean } {
  const { kind } = timeOf(spec.schedule);
  if (first === undefined || first.runAfter > nowMs) return { count: 0, isExact: true };
  if (kind === "custom" || kind === "continuous" || kind === "once") return { count: 1, isExact: true };
  const { latest = Infinity } = boundsOf(spec);
  const range = { from: first.logicalDate + 1, to: Math.min(latest, nowMs), anchor: first.interval.end };
  let count = 1;
  for (const run of runsBetween(spec.schedule, range)) {
    if (run.runAfter > nowMs) break;
    if (count === COUNTED) {
      const share = (Math.min(latest, nowMs) - first.logicalDate) / (run.logicalDate - first.logicalDate);
      return { count: Math.round((count * share) / 1_000) * 1_000, isExact: false };
    }
    count++;
  }
  return { count, isExact: true };
}
