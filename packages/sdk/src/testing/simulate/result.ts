// What a simulation gives back.
import type { RunState, RunType, TaskState } from "@millrace/shared/model";
import type { RunRow, TaskRow } from "../engine/rows.ts";
import type { WaitReason } from "./recorder.ts";
import type { Simulation } from "./simulation.ts";
import { drawTimeline, type TimelineOptions } from "./timeline.ts";

export interface SimulatedTry {
  /** 1 for the first; the same again when a worker was lost, which uses no try. */
  readonly tryNumber: number;
  readonly state: TaskState;
  readonly startDate: Date;
  readonly endDate: Date;
  readonly reason: string | null;
}

/** A time that a task instance waited without a worker. */
export interface SimulatedWaitSpan {
  readonly state: "deferred" | "up_for_reschedule";
  readonly startDate: Date;
  /** Null: nothing in the simulation ended it. */
  readonly endDate: Date | null;
}

export interface SimulatedTask {
  readonly taskId: string;
  readonly mapIndex: number;
  readonly state: TaskState;
  readonly tryNumber: number;
  readonly startDate: Date | null;
  readonly endDate: Date | null;
  /** Why it is as it is without having run, or why it failed. */
  readonly reason: string | null;
  readonly tries: readonly SimulatedTry[];
  /** Within the tries. */
  readonly waits: readonly SimulatedWaitSpan[];
}

export interface SimulatedRun {
  readonly runId: string;
  readonly runType: RunType;
  readonly logicalDate: Date | null;
  readonly dataIntervalStart: Date | null;
  readonly dataIntervalEnd: Date | null;
  /** From here on it was allowed to start. */
  readonly runAfter: Date;
  readonly startDate: Date | null;
  readonly endDate: Date | null;
  /** `queued` and `running`: nothing in the simulation ever ended it. */
  readonly state: RunState;
  /** `success`, `task_failure`, `all_tasks_deadlocked`, `timed_out`. */
  readonly reason: string | null;
  readonly tasks: readonly SimulatedTask[];
}

export interface SimulationSummary {
  readonly runs: Readonly<Partial<Record<RunState, number>>>;
  readonly tasks: Readonly<Partial<Record<TaskState, number>>>;
  readonly tries: number;
  /** Seconds from when a run was allowed to start to its start. */
  readonly lateness: { readonly median: number; readonly p95: number; readonly max: number };
  /** Seconds from the start of a run to its end. */
  readonly duration: { readonly median: number; readonly p95: number; readonly max: number };
  /** The most tasks that ran at one moment, and the first such moment. */
  readonly peak: { readonly tasks: number; readonly at: Date | null };
  /** The clock hour in which the most tries started. */
  readonly busiest: { readonly from: Date; readonly tries: number } | null;
  /** Seconds of waiting by what was waited for, all runs and tasks together. */
  readonly waits: Readonly<Partial<Record<WaitReason, number>>>;
  /** When the DAG was paused because its newest runs had all failed. */
  readonly pausedAt: Date | null;
}

export interface SimulationResult {
  readonly dagId: string;
  readonly from: Date;
  readonly until: Date;
  /** In the order of their run_after. */
  readonly runs: readonly SimulatedRun[];
  readonly summary: SimulationSummary;
  /** Bars over time, a line a task: for a terminal or a snapshot. */
  timeline(options?: TimelineOptions): string;
}

const dateOf = (at: number | undefined | null): Date | null => (at === undefined || at === null ? null : new Date(at));

export function resultOf(simulation: Simulation, from: number, until: number): SimulationResult {
  const { store, dag } = simulation;
  const rows = store.runs.toSorted((a, b) => a.runAfter - b.runAfter || a.id - b.id);
  const runs = rows.map((run) => asRun(simulation, run));
  return {
    dagId: dag.dagId,
    from: new Date(from),
    until: new Date(until),
    runs,
    summary: summaryOf(simulation, runs),
    timeline: (options) => drawTimeline(runs, options),
  };
}

function asRun(simulation: Simulation, run: RunRow): SimulatedRun {
  const { state, reason, startDate, endDate } = run.committed;
  return {
    runId: run.runId,
    runType: run.runType,
    logicalDate: dateOf(run.logicalDate),
    dataIntervalStart: dateOf(run.interval?.start),
    dataIntervalEnd: dateOf(run.interval?.end),
    runAfter: new Date(run.runAfter),
    startDate: dateOf(startDate),
    endDate: dateOf(endDate),
    state,
    reason: reason ?? null,
    tasks: run.tasks.map((task) => asTask(simulation, task)),
  };
}

function asTask({ recorder }: Simulation, task: TaskRow): SimulatedTask {
  const { state, tryNumber, startDate, endDate, reason } = task.committed;
  const [start, end] = [dateOf(startDate), dateOf(endDate)];
  // A date is bigger than all else here, and most task instances have one try, whose dates are theirs.
  const sameOr = (date: Date | null, at: number): Date => (date?.getTime() === at ? date : new Date(at));
  return {
    taskId: task.taskId,
    mapIndex: task.mapIndex,
    state,
    tryNumber,
    startDate: start,
    endDate: end,
    reason: reason ?? null,
    tries: recorder.triesOf(task).map((one) => ({
      tryNumber: one.tryNumber,
      state: one.state,
      startDate: sameOr(start, one.startDate),
      endDate: sameOr(end, one.endDate),
      reason: one.reason ?? null,
    })),
    waits: recorder.spansOf(task).map((span) => ({
      state: span.state,
      startDate: new Date(span.startDate),
      endDate: dateOf(span.endDate),
    })),
  };
}

const HOUR = 3_600_000;

function summaryOf({ recorder, pausedAt }: Simulation, runs: readonly SimulatedRun[]): SimulationSummary {
  const [runStates, taskStates]: [Partial<Record<RunState, number>>, Partial<Record<TaskState, number>>] = [{}, {}];
  const [late, took]: [number[], number[]] = [[], []];
  const hours = new Map<number, number>();
  let tries = 0;
  for (const run of runs) {
    runStates[run.state] = (runStates[run.state] ?? 0) + 1;
    if (run.startDate !== null) {
      late.push((run.startDate.getTime() - run.runAfter.getTime()) / 1000);
      if (run.endDate !== null) took.push((run.endDate.getTime() - run.startDate.getTime()) / 1000);
    }
    for (const task of run.tasks) {
      taskStates[task.state] = (taskStates[task.state] ?? 0) + 1;
      tries += task.tries.length;
      for (const { startDate } of task.tries) {
        const hour = Math.floor(startDate.getTime() / HOUR) * HOUR;
        hours.set(hour, (hours.get(hour) ?? 0) + 1);
      }
    }
  }
  let busiest: SimulationSummary["busiest"] = null;
  for (const [hour, count] of hours) {
    if (count > (busiest?.tries ?? 0)) busiest = { from: new Date(hour), tries: count };
  }
  return {
    runs: runStates,
    tasks: taskStates,
    tries,
    lateness: spread(late),
    duration: spread(took),
    peak: { tasks: recorder.peak.tasks, at: recorder.peak.tasks === 0 ? null : new Date(recorder.peak.at) },
    busiest,
    waits: Object.fromEntries(recorder.waits),
    pausedAt: dateOf(pausedAt),
  };
}

function spread(values: number[]): SimulationSummary["lateness"] {
  const sorted = Float64Array.from(values).sort();
  const at = (share: number) => sorted[Math.min(sorted.length - 1, Math.floor(share * sorted.length))] ?? 0;
  return { median: at(0.5), p95: at(0.95), max: at(1) };
}
