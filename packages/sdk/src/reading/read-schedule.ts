import { DEFAULT_DST } from "../authoring/schedules.ts";
import { SCHEDULE_PRESETS } from "../authoring/dag-options.ts";
import type { ScheduleSpec } from "../spec/index.ts";
import { checkOptions, oneOf, seconds, show, text } from "./checks.ts";

const PRESETS: Readonly<Record<string, ScheduleSpec>> = {
  "@once": { kind: "once" },
  "@continuous": { kind: "continuous" },
  "@hourly": cronSpec("0 * * * *"),
  "@daily": cronSpec("0 0 * * *"),
  "@weekly": cronSpec("0 0 * * 0"),
  "@monthly": cronSpec("0 0 1 * *"),
  "@quarterly": cronSpec("0 0 1 */3 *"),
  "@yearly": cronSpec("0 0 1 1 *"),
};

function cronSpec(cron: string): ScheduleSpec {
  return { kind: "cron", cron, timezone: "UTC", dst: DEFAULT_DST };
}

/** The schedule that a DAG's option means. The syntax of a cron expression is for its reader to judge. */
export function readSchedule(schedule: unknown, report: (message: string) => void): ScheduleSpec {
  if (schedule === undefined || schedule === null) return { kind: "none" };
  const preset = typeof schedule === "string" ? PRESETS[schedule] : undefined;
  if (preset !== undefined) return preset;
  if (typeof schedule === "string") {
    if (schedule.startsWith("@")) report(`schedule ${oneOf([...SCHEDULE_PRESETS, null])(schedule) ?? ""}`);
    else wrongCron(schedule).forEach(report);
    return cronSpec(schedule.trim());
  }
  const problems = wrongSpec(schedule);
  problems.forEach(report);
  return problems.length > 0 ? { kind: "none" } : (schedule as ScheduleSpec); // every field was just checked
}

function wrongCron(cron: unknown): readonly string[] {
  if (typeof cron !== "string") return [`schedule must be a cron expression, got ${show(cron)}`];
  const fields = cron.trim().split(/\s+/);
  return fields.length === 5 || fields.length === 6
    ? []
    : [
        `schedule ${show(cron)} must have 5 cron fields (or 6, with seconds last), got ${cron.trim() === "" ? 0 : fields.length}`,
      ];
}

function wrongSpec(schedule: unknown): readonly string[] {
  const kind = typeof schedule === "object" && schedule !== null && "kind" in schedule ? schedule.kind : undefined;
  switch (kind) {
    case "none":
    case "once":
    case "continuous":
      return checkOptions(schedule, { kind: text });
    case "delta":
      return checkOptions(schedule, { kind: text, seconds: seconds("positive") }).map((wrong) => `schedule: ${wrong}`);
    case "cron":
    case "cronTrigger":
      return checkOptions(schedule, {
        kind: text,
        cron: (value) => wrongCron(value)[0],
        timezone: wrongTimezone,
        dst: (value) =>
          checkOptions(value, { gap: oneOf(["shift", "skip"]), fold: oneOf(["first", "last", "both"]) }).join("; ") ||
          undefined,
      }).map((wrong) => wrong.replace(/^cron schedule/, "schedule"));
    default:
      return [
        `schedule must be a preset, a cron expression, cron(…), cronTrigger(…), every(…) or null, got ${show(schedule)}`,
      ];
  }
}

function wrongTimezone(zone: unknown): string | undefined {
  try {
    new Intl.DateTimeFormat("en", { timeZone: String(zone) });
    return undefined;
  } catch {
    return `must be an IANA zone like "Europe/Berlin", got ${show(zone)}`;
  }
}
