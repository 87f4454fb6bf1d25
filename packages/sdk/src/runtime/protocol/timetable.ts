// The questions to a timetable that is code of the DAG's file.
import type { Catchup } from "../../spec/index.ts";

/** Instants here are milliseconds since the epoch. */
export interface PlannedInterval {
  readonly start: number;
  readonly end: number;
}

export interface PlannedTimetableRun {
  readonly logicalDate: number;
  readonly interval: PlannedInterval;
  readonly runAfter: number;
}

export interface PlanRequest {
  readonly dagId: string;
  /** The interval of the newest run; null when there is none. */
  readonly last: PlannedInterval | null;
  readonly now: number;
  readonly earliest: number | null;
  readonly latest: number | null;
  readonly catchup: Catchup;
  /** How many runs are wanted. */
  readonly count: number;
}

export interface PlanAnswer {
  readonly runs: readonly PlannedTimetableRun[];
  /** What a manual run from an instant on stands for; empty when the timetable does not say. */
  readonly manual: readonly { readonly at: number; readonly interval: PlannedInterval }[];
  /** There is no run after these. */
  readonly ended: boolean;
  /** Why there are no more: a message, with the stack of the bundle. */
  readonly error?: string;
}
