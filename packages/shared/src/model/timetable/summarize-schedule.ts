import type { ScheduleSpec } from "@millrace/sdk/spec";

/** A schedule in words for a list: the cron itself, or what it is. */
export function summarizeSchedule(schedule: ScheduleSpec): string {
  switch (schedule.kind) {
    case "cron":
    case "cronTrigger":
      return schedule.cron;
    case "multipleCron":
      return schedule.crons.join(", ");
    case "delta":
      return `every ${schedule.seconds} s`;
    case "events":
      return schedule.summary ?? `${schedule.events.length} events`;
    case "custom":
      return schedule.summary;
    case "assetOrTime":
      return `assets or ${summarizeSchedule(schedule.time)}`;
    case "once":
    case "continuous":
      return `@${schedule.kind}`;
    case "none":
      return "None";
  }
}
