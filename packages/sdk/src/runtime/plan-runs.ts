// Asks a timetable of a DAG's file for its next runs. What it answers is checked here, where the code is that can be blamed.
import type { DagOptions } from "../authoring/dag-options.ts";
import type { DagDefinition } from "../authoring/definition.ts";
import type { Timetable, TimetableInterval, TimetableRun } from "../authoring/timetable.ts";
import { isTimetable } from "../reading/read-schedule.ts";
import { show } from "../reading/checks.ts";
import type { PlanAnswer, PlanRequest, PlannedInterval, PlannedTimetableRun } from "./protocol.ts";

/** Never throws: what went wrong is in the answer, after the runs that were found before it. */
export function planRuns(dag: DagDefinition | undefined, request: PlanRequest): PlanAnswer {
  const schedule = (dag?.options as DagOptions | undefined)?.schedule; // checked when the DAG was read
  if (!isTimetable(schedule)) return { runs: [], manual: [], ended: false, error: "its schedule is not a timetable" };
  const runs: PlannedTimetableRun[] = [];
  const manual: { at: number; interval: PlannedInterval }[] = [];
  try {
    let { last, now } = request;
    infer(schedule, now, manual);
    while (runs.length < request.count) {
      const run = next(schedule, { ...request, last, now });
      if (run === undefined) return { runs, manual, ended: true };
      runs.push(run);
      infer(schedule, run.runAfter, manual);
      last = run.interval;
      // As it will be asked when the run is created.
      now = run.runAfter;
    }
    return { runs, manual, ended: false };
  } catch (error) {
    return {
      runs,
      manual,
      ended: false,
      error: error instanceof Error ? (error.stack ?? String(error)) : String(error),
    };
  }
}

function next(
  timetable: Timetable,
  { last, now, earliest, latest, catchup }: PlanRequest,
): PlannedTimetableRun | undefined {
  const date = (instant: number | null) => (instant === null ? undefined : new Date(instant));
  const answer: unknown = timetable.next({
    last: last === null ? undefined : { start: new Date(last.start), end: new Date(last.end) },
    now: new Date(now),
    earliest: date(earliest),
    latest: date(latest),
    catchup,
  });
  if (answer === null || answer === undefined) return undefined;
  const interval = intervalOf("next", answer);
  const given = (answer as TimetableRun).runAfter;
  const runAfter = given === undefined ? interval.end : instantOf("next", "runAfter", given);
  if (last !== null && interval.start <= last.start) {
    throw new Error(
      `next() must go on: after the run that starts at ${iso(last.start)} it returned one that starts at ${iso(interval.start)}`,
    );
  }
  return latest !== null && interval.start > latest ? undefined : { logicalDate: interval.start, interval, runAfter };
}

function infer(timetable: Timetable, at: number, into: { at: number; interval: PlannedInterval }[]): void {
  const answer: unknown = timetable.infer?.(new Date(at));
  if (timetable.infer !== undefined) into.push({ at, interval: intervalOf("infer", answer) });
}

function intervalOf(method: string, answer: unknown): PlannedInterval {
  if (typeof answer !== "object" || answer === null || answer instanceof Promise) {
    const got = answer instanceof Promise ? "a promise" : show(answer);
    throw new Error(`${method}() must return { start, end }${method === "next" ? " or null" : ""}, got ${got}`);
  }
  const { start, end } = answer as Partial<Record<keyof TimetableInterval, unknown>>;
  const interval = { start: instantOf(method, "start", start), end: instantOf(method, "end", end) };
  if (interval.end < interval.start) {
    throw new Error(
      `${method}() returned an end, ${iso(interval.end)}, that lies before its start, ${iso(interval.start)}`,
    );
  }
  return interval;
}

function instantOf(method: string, key: string, value: unknown): number {
  if (value instanceof Date && !Number.isNaN(value.getTime())) return value.getTime();
  throw new Error(`${method}() returned a ${key} that is not a valid Date but ${show(value)}`);
}

const iso = (instant: number): string => new Date(instant).toISOString();
