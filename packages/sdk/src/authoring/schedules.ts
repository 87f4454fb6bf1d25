// Schedules that need more than a string. They only describe: what they say is checked when the DAG is read.
import type { DstPolicy, ScheduleSpec } from "../spec/index.ts";

/** What Millrace does around clock changes unless told otherwise: a fixed local time fires once on every day. */
export const DEFAULT_DST: DstPolicy = { gap: "shift", fold: "first" };

/** In which zone, and how around its clock changes, a cron expression is read. */
export interface CronOptions {
  /** An IANA zone name. @default "UTC" */
  readonly timezone?: string;
  /** `gap`: a local time that does not exist is shifted forward or skipped. `fold`: which of two to take. @default \{ gap: "shift", fold: "first" \} */
  readonly dst?: Partial<DstPolicy>;
}

function cronSpec<K extends "cron" | "cronTrigger">(kind: K, cron: string, options: CronOptions) {
  return { kind, cron, timezone: options.timezone ?? "UTC", dst: { ...DEFAULT_DST, ...options.dst } };
}

/**
 * One run for each interval between two ticks; its logical date is the start of the interval, and it starts when the
 * interval ends. What a plain cron string means, too. Airflow's `CronDataIntervalTimetable`.
 *
 * @param expression five fields, or six with seconds last
 */
export function cron(expression: string, options: CronOptions = {}): ScheduleSpec {
  return cronSpec("cron", expression, options);
}

/**
 * One run at each tick, with the tick as its logical date and no interval. Airflow's `CronTriggerTimetable`.
 *
 * @param expression five fields, or six with seconds last
 */
export function cronTrigger(expression: string, options: CronOptions = {}): ScheduleSpec {
  return cronSpec("cronTrigger", expression, options);
}

/** A length of time; the parts are added up. */
export interface Duration {
  readonly weeks?: number;
  readonly days?: number;
  readonly hours?: number;
  readonly minutes?: number;
  readonly seconds?: number;
}

/** One run for each interval of this fixed length, of real time and not of the calendar. Airflow's `timedelta`. */
export function every(duration: Duration): ScheduleSpec {
  const { weeks = 0, days = 0, hours = 0, minutes = 0, seconds = 0 } = duration;
  return { kind: "delta", seconds: (((weeks * 7 + days) * 24 + hours) * 60 + minutes) * 60 + seconds };
}
