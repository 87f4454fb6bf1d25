// What clocks do around a run of a cron, in words: that its local time did not exist, exists twice, or was left out, and
// that its interval has an hour more or less. For previews; the decisions themselves are cron-ticks.
import type { ScheduleSpec } from "@millrace/sdk/spec";
import { cronMatches } from "./cron-ticks.ts";
import type { PlannedRun } from "./next-run.ts";
import { timeOf } from "./trigger-ticks.ts";
import { zonePeriodAt } from "./zone-periods.ts";

/** In which zone the times of a schedule are to be read. */
export function zoneOf(given: ScheduleSpec, fallback = "UTC"): string {
  const schedule = timeOf(given);
  return "timezone" in schedule ? schedule.timezone : fallback;
}

/** `2026-03-29T03:30:00+02:00` */
export function localTime(instant: number, zone: string): string {
  const { offset } = zonePeriodAt(zone, instant);
  const minutes = Math.round(Math.abs(offset) / 60_000);
  const two = (n: number) => String(n).padStart(2, "0");
  const sign = offset < 0 ? "-" : "+";
  return `${naive(instant + offset)}${sign}${two(Math.floor(minutes / 60))}:${two(minutes % 60)}`;
}

const naive = (ms: number): string => new Date(ms).toISOString().slice(0, 19);
/** Hours and minutes, and seconds where there are any. */
const clock = (ms: number): string => naive(ms).slice(11).replace(/:00$/, "");

export function clockRemarks(given: ScheduleSpec, run: PlannedRun): string[] {
  const schedule = timeOf(given);
  if (!("timezone" in schedule)) return [];
  const crons = schedule.kind === "multipleCron" ? schedule.crons : [schedule.cron];
  const { timezone: zone, dst } = schedule;
  const tick = run.runAfter;
  const remarks: string[] = [];
  const period = zonePeriodAt(zone, tick);
  if (period.start !== -Infinity) {
    const before = zonePeriodAt(zone, period.start - 1);
    const jump = period.offset - before.offset;
    const missing = tick + before.offset;
    // Its own local time may be one that the cron names as well.
    const isOwn = crons.some((cron) => cronMatches(cron, tick + period.offset));
    if (jump > 0 && tick < period.start + jump && !isOwn && crons.some((cron) => cronMatches(cron, missing)))
      remarks.push(`${clock(missing)} does not exist on this day: runs at ${clock(tick + period.offset)}`);
    if (jump < 0 && tick < period.start - jump)
      remarks.push(`${clock(tick + period.offset)} comes twice on this day: this is the second`);
  }
  if (period.end !== Infinity) {
    const back = period.offset - zonePeriodAt(zone, period.end).offset;
    if (back > 0 && tick >= period.end - back)
      remarks.push(`${clock(tick + period.offset)} comes twice on this day: this is the first`);
  }
  if (dst.gap === "skip") remarks.push(...skipped(crons, zone, run));
  const { start, end } = run.interval;
  const change = zonePeriodAt(zone, end).offset - zonePeriodAt(zone, start).offset;
  if (schedule.kind === "cron" && change !== 0)
    remarks.push(`clocks ${change > 0 ? "go forward" : "go back"} in its interval, which has ${hours(end - start)}`);
  return remarks;
}

const hours = (ms: number): string => `${+(ms / 3_600_000).toFixed(2)} hours`;

/** Local times that were jumped over between the run before and this one, and are left out. */
function skipped(crons: readonly string[], zone: string, { interval }: PlannedRun): string[] {
  const found: string[] = [];
  for (
    let period = zonePeriodAt(zone, interval.start);
    period.end <= interval.end;
    period = zonePeriodAt(zone, period.end)
  ) {
    const jump = zonePeriodAt(zone, period.end).offset - period.offset;
    const from = period.end + period.offset;
    for (let minute = from; minute < from + jump; minute += 60_000) {
      if (crons.some((cron) => cronMatches(cron, minute))) {
        found.push(`${clock(minute)} does not exist on ${naive(minute).slice(0, 10)} and is left out`);
        break;
      }
    }
  }
  return found;
}
