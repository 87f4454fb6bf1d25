// Schedules that are code of the DAG's file. Only a child process of the dag-processor ever calls that code, ahead of
// time; what it answers is stored, and the scheduler creates runs from what is stored.

/** A time span that a run stands for. */
export interface TimetableInterval {
  readonly start: Date;
  /** Not before `start`; the same for a run that stands for an instant. */
  readonly end: Date;
}

/** A run that a timetable asks for. Its logical date is the start of its interval. */
export interface TimetableRun extends TimetableInterval {
  /** The earliest moment at which the run may start. @default end */
  readonly runAfter?: Date;
}

/** What a timetable is asked with. */
export interface TimetableQuestion {
  /** The interval of the newest run that the schedule created or planned; `undefined` when there is none. */
  readonly last: TimetableInterval | undefined;
  /** The present, or the moment at which the run before is due when that is planned ahead. */
  readonly now: Date;
  /** The DAG's first date. */
  readonly earliest: Date | undefined;
  /** The DAG's last date; a run that starts after it ends the schedule whatever the timetable says. */
  readonly latest: Date | undefined;
  /** `true`: every run is wanted. `false`: what is over before `now` is left out but the latest. `"none"`: all of it is. */
  readonly catchup: boolean | "none";
}

/**
 * A schedule of your own: an object like this, or an instance of a class that implements it, given to a DAG as
 * `schedule`. Airflow's `Timetable`.
 *
 * Its code is called in a child process of the dag-processor only, under the limits for reading a file, and asked for a
 * number of runs ahead. It has to answer from its arguments alone: no network, no files, no state. One that throws or
 * does not return gives its DAG a warning, no further runs, and harms no other DAG of the file.
 */
export interface Timetable {
  /** Told in lists as the kind of schedule. @default the name of the class */
  readonly name?: string;
  /** Shown as the schedule. @default the name */
  readonly summary?: string;
  /** The run after `last`; its start must be later than that of `last`. `null` ends the schedule. */
  next(question: TimetableQuestion): TimetableRun | null;
  /**
   * The data interval of a run that somebody triggers at `at`. Asked ahead as well, for the present and for each moment
   * at which a run is due; a manual run takes the answer for the latest such moment before it. @default that instant
   */
  infer?(at: Date): TimetableInterval;
}

/**
 * Makes a timetable of functions.
 *
 * @example
 * ```ts
 * const DAY = 86_400_000;
 * const afterWorkdays = defineTimetable({
 *   name: "after-workdays",
 *   summary: "each workday, when it is over",
 *   next({ last, now, earliest }) {
 *     let start = last?.end ?? earliest ?? new Date(Math.floor(now.getTime() / DAY - 1) * DAY);
 *     while (start.getUTCDay() % 6 === 0) start = new Date(start.getTime() + DAY);
 *     return { start, end: new Date(start.getTime() + DAY) };
 *   },
 * });
 * new Dag("report", { schedule: afterWorkdays });
 * ```
 */
export function defineTimetable(timetable: Timetable): Timetable {
  return timetable;
}
