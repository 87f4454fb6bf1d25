// Schedules whose runs stand for instants instead of for what lies between two of them.
import type { ScheduleSpec, TimeScheduleSpec } from "@millrace/sdk/spec";
import { cronTicks, mergeTicks, type CronTicks } from "./cron-ticks.ts";

export interface TriggerTicks extends CronTicks {
  /** Length of the data interval that ends with each tick. */
  readonly intervalMs: number;
}

/** What of a schedule time decides. */
export const timeOf = (schedule: ScheduleSpec): TimeScheduleSpec =>
  schedule.kind === "assetOrTime" ? schedule.time : schedule.kind === "assets" ? { kind: "none" } : schedule;

/**
 * Undefined for every other kind of schedule.
 * @throws AppError SCHEDULE_INVALID.
 */
export function triggerTicks(schedule: TimeScheduleSpec): TriggerTicks | undefined {
  switch (schedule.kind) {
    case "cronTrigger":
      return {
        ...cronTicks(schedule.cron, schedule.timezone, schedule.dst),
        intervalMs: (schedule.intervalSeconds ?? 0) * 1000,
      };
    case "multipleCron":
      return {
        ...mergeTicks(schedule.crons.map((cron) => cronTicks(cron, schedule.timezone, schedule.dst))),
        intervalMs: (schedule.intervalSeconds ?? 0) * 1000,
      };
    case "events": {
      const events = schedule.events.map((event) => Date.parse(event));
      return {
        next: (instant) => events.find((event) => event > instant),
        previous: (instant) => events.findLast((event) => event < instant),
        intervalMs: 0,
      };
    }
    default:
      return undefined;
  }
}
