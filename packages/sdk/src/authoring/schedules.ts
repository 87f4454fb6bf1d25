// Schedules that need more than a string. They only describe: what they say is checked when the DAG is read.
import type { CronReading, DstPolicy, ScheduleSpec } from "../spec/index.ts";

/** What Millrace does around clock changes unless told otherwise: a fixed local time fires once on every day. */
export const DEFAULT_DST: DstPolicy = { gap: "shift", fold: "first" };

type LeftToDag<S> = S extends CronReading ? Omit<S, "timezone"> & { readonly timezone?: string } : S;

/** What the functions for schedules return: a schedule whose zone may be left to its DAG. */
export type DeclaredSchedule =
  | LeftToDag<ScheduleSpec>
  | {
      readonly kind: "events";
      readonly events: readonly (Date | string)[];
      readonly restrictToEvents: boolean;
      readonly summary?: string;
    };

/** In which zone, and how around its clock changes, a cron expression is read. */
export interface CronOptions {
  /** An IANA zone name. @default the `timezone` of the DAG, which is "UTC" unless given */
  readonly timezone?: string;
  /** `gap`: a local time that does not exist is shifted forward or skipped. `fold`: which of two to take. @default \{ gap: "shift", fold: "first" \} */
  readonly dst?: Partial<DstPolicy>;
}

/** For schedules whose runs stand for instants. */
export interface CronTriggerOptions extends CronOptions {
  /** The length of the data interval that ends with each tick; its start is the logical date. @default none: it is empty */
  readonly interval?: Duration;
}

const readingOf = ({ timezone, dst }: CronOptions) => ({
  ...(timezone === undefined ? {} : { timezone }),
  dst: { ...DEFAULT_DST, ...dst },
});
const intervalOf = ({ interval }: CronTriggerOptions) =>
  interval === undefined ? {} : { intervalSeconds: secondsOf(interval) };

/**
 * One run for each interval between two ticks; its logical date is the start of the interval, and it starts when the
 * interval ends. What a plain cron string means, too. Airflow's `CronDataIntervalTimetable`.
 *
 * @param expression five fields, or six with seconds last; names, `L`, `#` and steps as in Airflow, and a date matches
 *   either of day of month and day of week where both are restricted
 */
export function cron(expression: string, options: CronOptions = {}): DeclaredSchedule {
  return { kind: "cron", cron: expression, ...readingOf(options) };
}

/**
 * One run at each tick, with the tick as its logical date and no interval. Airflow's `CronTriggerTimetable`.
 *
 * @param expression five fields, or six with seconds last
 */
export function cronTrigger(expression: string, options: CronTriggerOptions = {}): DeclaredSchedule {
  return { kind: "cronTrigger", cron: expression, ...intervalOf(options), ...readingOf(options) };
}

/**
 * One run at each tick of any of these expressions, and one where several of them meet. Airflow's
 * `MultipleCronTriggerTimetable`.
 *
 * @param expressions each of five fields, or six with seconds last
 * @example `multipleCron(["10 9 * * 1-5", "0 12 * * sat"], { timezone: "Europe/Berlin" })`
 */
export function multipleCron(expressions: readonly string[], options: CronTriggerOptions = {}): DeclaredSchedule {
  return { kind: "multipleCron", crons: expressions, ...intervalOf(options), ...readingOf(options) };
}

/** How a list of events is read. */
export interface EventsOptions {
  /**
   * Whether a manual run stands for the latest event before it instead of for its own time. Airflow's
   * `restrict_to_events`. @default false
   */
  readonly restrictToEvents?: boolean;
  /** What to call the schedule in lists. @default the number of events */
  readonly summary?: string;
}

/**
 * One run at each of these instants, in the order of time, and one for those given twice. Airflow's `EventsTimetable`.
 *
 * @param events dates, or ISO texts that say their offset: `"2026-06-11T20:00:00+02:00"`
 */
export function events(events: readonly (Date | string)[], options: EventsOptions = {}): DeclaredSchedule {
  const { restrictToEvents = false, summary } = options;
  return { kind: "events", events, restrictToEvents, ...(summary === undefined ? {} : { summary }) };
}

/** A length of time; the parts are added up. */
export interface Duration {
  readonly weeks?: number;
  readonly days?: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
}

export function secondsOf({ weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0 }: Duration): number {
  return (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds;
}

/** One run for each interval of this fixed length, of real time and not of the calendar. Airflow's `timedelta`. */
export function every(duration: Duration): DeclaredSchedule {
  return { kind: "delta", seconds: secondsOf(duration) };
}
