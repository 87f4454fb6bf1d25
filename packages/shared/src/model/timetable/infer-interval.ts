import type { ScheduleSpec } from "@millrace/sdk/spec";
import { cronTicks } from "./cron-ticks.ts";
import type { Interval } from "./next-run.ts";
import { timeOf, triggerTicks } from "./trigger-ticks.ts";

/**
 * The data interval of a manual run at `at`: the latest complete one for a schedule of intervals, the interval before it
 * where ticks have one, the latest event where a schedule is restricted to its events, else the instant.
 */
export function inferManualInterval(given: ScheduleSpec, at: number): Interval {
  const exact = { start: at, end: at };
  const schedule = timeOf(given);
  switch (schedule.kind) {
    case "delta":
      return { start: at - schedule.seconds * 1000, end: at };
    case "cron": {
      const ticks = cronTicks(schedule.cron, schedule.timezone, schedule.dst);
      const end = ticks.previous(at + 1);
      const start = end === undefined ? undefined : ticks.previous(end);
      return start === undefined || end === undefined ? exact : { start, end };
    }
    case "cronTrigger":
    case "multipleCron":
      return { start: at - (schedule.intervalSeconds ?? 0) * 1000, end: at };
    case "events": {
      if (!schedule.restrictToEvents) return exact;
      const ticks = triggerTicks(schedule);
      const event = ticks?.previous(at + 1) ?? ticks?.next(at) ?? at;
      return { start: event, end: event };
    }
    default:
      return exact;
  }
}
