import { DEFAULT_DST } from "../authoring/schedules.ts";
import { SCHEDULE_PRESETS } from "../authoring/dag-options.ts";
import type { Timetable } from "../authoring/timetable.ts";
import type { ScheduleSpec } from "../spec/index.ts";
import { boolean, checkOptions, name, oneOf, seconds, show, text, type Check } from "./checks.ts";
import { isAssetSchedule, readAssetSchedule } from "./read-assets.ts";
import { readEvents, wrongEvents } from "./read-events.ts";

const PRESETS: Readonly<Record<string, string>> = {
  "@hourly": "0 * * * *",
  "@daily": "0 0 * * *",
  "@weekly": "0 0 * * 0",
  "@monthly": "0 0 1 * *",
  "@quarterly": "0 0 1 */3 *",
  "@yearly": "0 0 1 1 *",
};

/**
 * The schedule that a DAG's option means. The syntax of a cron expression is for its reader to judge.
 * @param timezone of the DAG, for crons that name none
 */
export function readSchedule(schedule: unknown, timezone: string, report: (message: string) => void): ScheduleSpec {
  const cronSpec = (cron: string): ScheduleSpec => ({ kind: "cron", cron, timezone, dst: DEFAULT_DST });
  if (schedule === undefined || schedule === null) return { kind: "none" };
  if (schedule === "@once") return { kind: "once" };
  if (schedule === "@continuous") return { kind: "continuous" };
  if (typeof schedule === "string") {
    const preset = PRESETS[schedule];
    if (preset !== undefined) return cronSpec(preset);
    if (schedule.startsWith("@")) report(`schedule ${oneOf([...SCHEDULE_PRESETS, null])(schedule) ?? ""}`);
    else if (wrongCron(schedule) !== undefined) report(`schedule ${wrongCron(schedule)}`);
    return cronSpec(schedule.trim());
  }
  if (isAssetSchedule(schedule))
    return readAssetSchedule(schedule, (time) => readSchedule(time, timezone, report), report);
  if (isTimetable(schedule)) return readTimetable(schedule, report);
  const problems = wrongSpec(schedule);
  problems.forEach(report);
  if (problems.length > 0) return { kind: "none" };
  const given = schedule as ScheduleSpec; // every field was just checked
  if (given.kind === "events") return readEvents(given);
  return "dst" in given ? { ...given, timezone: given.timezone ?? timezone } : given;
}

export const isTimetable = (schedule: unknown): schedule is Timetable =>
  typeof schedule === "object" && schedule !== null && "next" in schedule && typeof schedule.next === "function";

function readTimetable(timetable: Timetable, report: (message: string) => void): ScheduleSpec {
  const className = timetable.constructor === Object ? undefined : timetable.constructor.name;
  const named = timetable.name ?? (className === "" ? undefined : className);
  const summary = timetable.summary ?? named;
  const problems = [
    named === undefined ? "name is missing" : (wrongly("name", name(250)(named)) ?? []),
    wrongly("summary", summary === undefined ? undefined : name(500)(summary)) ?? [],
    timetable.infer === undefined || typeof timetable.infer === "function" ? [] : "infer must be a function",
  ].flat();
  problems.forEach((problem) => report(`schedule: the timetable's ${problem}`));
  return problems.length > 0 || named === undefined || summary === undefined
    ? { kind: "none" }
    : { kind: "custom", name: named, summary };
}

const wrongly = (key: string, wrong: string | undefined): string | undefined =>
  wrong === undefined ? undefined : `${key} ${wrong}`;

/** In words that follow the name of what was given. */
function wrongCron(cron: unknown): string | undefined {
  if (typeof cron !== "string") return `must be a cron expression, got ${show(cron)}`;
  const fields = cron.split(/\s+/).filter((field) => field !== "");
  return fields.length === 5 || fields.length === 6
    ? undefined
    : `${show(cron)} must have 5 cron fields (or 6, with seconds last), got ${fields.length}`;
}

function wrongCrons(crons: unknown): string | undefined {
  if (!Array.isArray(crons) || crons.length === 0)
    return `must be an array of one or more cron expressions, got ${Array.isArray(crons) ? "none" : show(crons)}`;
  return crons.map(wrongCron).find((wrong) => wrong !== undefined);
}

function wrongSpec(schedule: unknown): readonly string[] {
  const kind = typeof schedule === "object" && schedule !== null && "kind" in schedule ? schedule.kind : undefined;
  const check = typeof kind === "string" && Object.hasOwn(CHECKS, kind) ? CHECKS[kind] : undefined;
  if (check !== undefined) {
    const given: object = Object(schedule);
    const missing = Object.keys(check).filter((key) => !OPTIONAL.has(key) && !(key in given));
    const wrong = [...missing.map((key) => `${key} is missing`), ...checkOptions(given, { kind: text, ...check })];
    return wrong.map((problem) => `schedule: ${problem}`);
  }
  return [
    `schedule must be a preset, a cron expression, cron(…), cronTrigger(…), multipleCron(…), every(…), events(…), a timetable, assets or null, got ${show(schedule)}`,
  ];
}

/** Asking for one costs more than reading the rest of a DAG. */
const knownZones = new Set<string>();

export function wrongTimezone(zone: unknown): string | undefined {
  try {
    if (typeof zone !== "string") throw new RangeError();
    if (knownZones.has(zone)) return undefined;
    new Intl.DateTimeFormat("en", { timeZone: zone });
    knownZones.add(zone);
    return undefined;
  } catch {
    return `must be an IANA zone like "Europe/Berlin", got ${show(zone)}`;
  }
}

function wrongDst(dst: unknown): string | undefined {
  const wrong = checkOptions(dst, { gap: oneOf(["shift", "skip"]), fold: oneOf(["first", "last", "both"]) });
  return wrong.length === 0 ? undefined : `: ${wrong.join("; ")}`;
}

const READING: Readonly<Record<string, Check>> = { timezone: wrongTimezone, dst: wrongDst };
const INTERVAL: Readonly<Record<string, Check>> = { intervalSeconds: seconds("positive") };
const OPTIONAL: ReadonlySet<string> = new Set(["timezone", "intervalSeconds", "summary"]);

/** What each kind of schedule has. They come from the functions for schedules, but can be written by hand. */
const CHECKS: Readonly<Record<string, Readonly<Record<string, Check>>>> = {
  none: {},
  once: {},
  continuous: {},
  delta: { seconds: seconds("positive") },
  events: { events: wrongEvents, restrictToEvents: boolean, summary: name(500) },
  cron: { cron: wrongCron, ...READING },
  cronTrigger: { cron: wrongCron, ...INTERVAL, ...READING },
  multipleCron: { crons: wrongCrons, ...INTERVAL, ...READING },
};
