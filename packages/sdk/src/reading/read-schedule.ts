import { DEFAULT_DST } from "../authoring/schedules.ts";
import { SCHEDULE_PRESETS } from "../authoring/dag-options.ts";
import type { ScheduleSpec } from "../spec/index.ts";
import { checkOptions, oneOf, seconds, show, text, type Check } from "./checks.ts";

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
    else if (wrongCron(schedule) !== undefined) report(`schedule ${wrongCron(schedule)}`);
    return cronSpec(schedule.trim());
  }
  const problems = wrongSpec(schedule);
  problems.forEach(report);
  return problems.length > 0 ? { kind: "none" } : (schedule as ScheduleSpec); // every field was just checked
}

/** In words that follow the name of what was given. */
function wrongCron(cron: unknown): string | undefined {
  if (typeof cron !== "string") return `must be a cron expression, got ${show(cron)}`;
  const fields = cron.split(/\s+/).filter((field) => field !== "");
  return fields.length === 5 || fields.length === 6
    ? undefined
    : `${show(cron)} must have 5 cron fields (or 6, with seconds last), got ${fields.length}`;
}

function wrongSpec(schedule: unknown): readonly string[] {
  const kind = typeof schedule === "object" && schedule !== null && "kind" in schedule ? schedule.kind : undefined;
  const check = typeof kind === "string" ? CHECKS[kind] : undefined;
  if (check !== undefined) {
    const given: object = Object(schedule);
    const missing = Object.keys(check).filter((key) => !(key in given));
    const wrong = [...missing.map((key) => `${key} is missing`), ...checkOptions(given, { kind: text, ...check })];
    return wrong.map((problem) => `schedule: ${problem}`);
  }
  return [
    `schedule must be a preset, a cron expression, cron(…), cronTrigger(…), every(…) or null, got ${show(schedule)}`,
  ];
}

function wrongTimezone(zone: unknown): string | undefined {
  try {
    new Intl.DateTimeFormat("en", { timeZone: String(zone) });
    return undefined;
  } catch {
    return `must be an IANA zone like "Europe/Berlin", got ${show(zone)}`;
  }
}

function wrongDst(dst: unknown): string | undefined {
  const wrong = checkOptions(dst, { gap: oneOf(["shift", "skip"]), fold: oneOf(["first", "last", "both"]) });
  return wrong.length === 0 ? undefined : `: ${wrong.join("; ")}`;
}

const CRON: Readonly<Record<string, Check>> = { cron: wrongCron, timezone: wrongTimezone, dst: wrongDst };

/** What each kind of schedule has. They come from `cron`, `cronTrigger` and `every`, but can be written by hand. */
const CHECKS: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  none: {},
  once: {},
  continuous: {},
  delta: { seconds: seconds("positive") },
  cron: CRON,
  cronTrigger: CRON,
};
