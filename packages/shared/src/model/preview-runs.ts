// Exactly which runs a schedule will create, by the steps by which they are created: from the next run as it is planned, one
// after the other, as the scheduler will go on. Pure, and creates nothing.
import type { DagSpec } from "@millrace/sdk/spec";
import { followingRun, scheduledRunId } from "./plan-runs.ts";
import { clockRemarks, localTime, zoneOf } from "./timetable/clock-remarks.ts";
import type { PlannedRun } from "./timetable/next-run.ts";
import { timeOf } from "./timetable/trigger-ticks.ts";

export interface PreviewRequest {
  readonly spec: DagSpec;
  /** The next run, as it is planned or would be; undefined when there is none. */
  readonly first: PlannedRun | undefined;
  /** What is planned of a custom schedule. */
  readonly planned: readonly PlannedRun[];
  /** The plan of a custom schedule has an end. */
  readonly ended: boolean;
  /** Runs that become due from here on are shown, and up to `until`. */
  readonly from: number;
  readonly until: number;
  readonly now: number;
  /** How many are shown. */
  readonly limit: number;
  /** Logical dates that have a scheduled run or one of a backfill; they get no other. */
  readonly taken: ReadonlySet<number>;
  /** Told now and then how many runs were counted. */
  readonly onCounted?: ((runs: number) => void) | undefined;
}

export interface PreviewedRun {
  readonly runId: string;
  readonly run: PlannedRun;
  /** Created as soon as the DAG's schedule goes on: its time has come already. */
  readonly isDue: boolean;
  /** False: there is such a run already. */
  readonly isCreated: boolean;
  readonly local: {
    readonly logicalDate: string;
    readonly start: string;
    readonly end: string;
    readonly runAfter: string;
  };
  readonly remarks: readonly string[];
}

export interface RunPreview {
  readonly timezone: string;
  readonly runs: readonly PreviewedRun[];
  /** Of those that will be created: how many in the range, due already, and before the range. */
  readonly total: number;
  readonly due: number;
  readonly earlier: number;
  /** False when counting stopped before the end of the range. */
  readonly isComplete: boolean;
  readonly remarks: readonly string[];
}

/** Counting a run takes microseconds; this many a good second. */
export const COUNTED_AT_MOST = 100_000;
const COUNTED_BETWEEN_REPORTS = 1_000;

/** @throws AppError SCHEDULE_INVALID. */
export function previewRuns(request: PreviewRequest): RunPreview {
  const { spec, from, until, now, limit, taken } = request;
  const timezone = zoneOf(spec.schedule, spec.timezone);
  const runs: PreviewedRun[] = [];
  const remarks: string[] = [];
  let [total, due, earlier, counted] = [0, 0, 0, 0];
  let last: PlannedRun | undefined;
  for (let run = request.first; run !== undefined && run.runAfter <= until; run = following(request, run)) {
    if (counted++ === COUNTED_AT_MOST) {
      remarks.push(`counting stopped after ${COUNTED_AT_MOST.toLocaleString("en-US")} runs, at ${iso(run.runAfter)}`);
      return { timezone, runs, total, due, earlier, isComplete: false, remarks };
    }
    if (counted % COUNTED_BETWEEN_REPORTS === 0) request.onCounted?.(counted);
    last = run;
    const isCreated = !taken.has(run.logicalDate);
    const inRange = run.runAfter >= from;
    if (isCreated) {
      if (run.runAfter <= now) due++;
      if (inRange) total++;
      else earlier++;
    }
    if (inRange && runs.length < limit) runs.push(shown(request, run, isCreated, timezone));
  }
  const left = total + runs.filter((one) => !one.isCreated).length - runs.length;
  if (left > 0) remarks.push(`${left.toLocaleString("en-US")} more are not shown`);
  remarks.push(...limitsOf(request, last));
  return { timezone, runs, total, due, earlier, isComplete: true, remarks };
}

function following({ spec, planned, now }: PreviewRequest, run: PlannedRun): PlannedRun | undefined {
  // How long a continuous run takes nobody knows before.
  if (timeOf(spec.schedule).kind === "continuous") return undefined;
  return followingRun(spec, run, now, planned);
}

function limitsOf({ spec, planned, ended }: PreviewRequest, last: PlannedRun | undefined): string[] {
  const { kind } = timeOf(spec.schedule);
  if (kind === "continuous" && last !== undefined) return ["the next run follows whenever the one before has ended"];
  const end = planned.at(-1)?.runAfter;
  if (kind !== "custom" || ended || (last !== undefined && last.runAfter !== end)) return [];
  return [end === undefined ? "its timetable has not been asked yet" : `its timetable was asked up to ${iso(end)}`];
}

function shown({ spec, now }: PreviewRequest, run: PlannedRun, isCreated: boolean, timezone: string): PreviewedRun {
  const local = (instant: number) => localTime(instant, timezone);
  return {
    runId: scheduledRunId(run.runAfter),
    run,
    isDue: run.runAfter <= now,
    isCreated,
    local: {
      logicalDate: local(run.logicalDate),
      start: local(run.interval.start),
      end: local(run.interval.end),
      runAfter: local(run.runAfter),
    },
    remarks: [
      ...clockRemarks(spec.schedule, run),
      ...(isCreated ? [] : ["there is a run for this interval already: no other is created"]),
    ],
  };
}

const iso = (instant: number): string => new Date(instant).toISOString();
