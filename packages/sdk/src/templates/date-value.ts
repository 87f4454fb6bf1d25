// Dates and durations of templates: the members of Airflow's pendulum dates that templates use, in UTC.
import type { Json } from "../spec/index.ts";
import { bind, needInteger, needNumber, needText } from "./arguments.ts";
import { isoWeek, strftime } from "./strftime.ts";
import { TemplateError } from "./template-error.ts";
import { Callable, Names, Thing, type Keywords, type Value } from "./values.ts";

const UNITS = {
  weeks: 604_800_000,
  days: 86_400_000,
  hours: 3_600_000,
  minutes: 60_000,
  seconds: 1_000,
  milliseconds: 1,
  microseconds: 0.001,
} as const;
const unitOf = (name: string): number => new Map<string, number>(Object.entries(UNITS)).get(name) ?? 0;
const CALENDAR = ["years", "months"];
const PARTS = ["year", "month", "day", "hour", "minute", "second", "microsecond"];

export class DateValue extends Thing {
  readonly at: Date;

  /** @throws TemplateError outside of the years 1 to 9999, as in Python */
  constructor(at: Date) {
    super();
    const year = at.getUTCFullYear();
    if (Number.isNaN(at.getTime()) || year < 1 || year > 9999) throw new TemplateError("a date is out of range");
    this.at = at;
  }

  override member(name: string): Value | undefined {
    const { at } = this;
    switch (name) {
      case "year":
        return at.getUTCFullYear();
      case "month":
        return at.getUTCMonth() + 1;
      case "day":
        return at.getUTCDate();
      case "hour":
        return at.getUTCHours();
      case "minute":
        return at.getUTCMinutes();
      case "second":
        return at.getUTCSeconds();
      case "microsecond":
        return at.getUTCMilliseconds() * 1000;
      case "day_of_week":
        return (at.getUTCDay() + 6) % 7; // Monday is 0, as pendulum 3 counts
      case "day_of_year":
        return Number.parseInt(strftime(at, "%j"), 10);
      case "week_of_year":
        return isoWeek(at).week;
      case "days_in_month":
        return daysIn(at.getUTCFullYear(), at.getUTCMonth());
      case "quarter":
        return Math.floor(at.getUTCMonth() / 3) + 1;
      case "int_timestamp":
        return Math.floor(at.getTime() / 1000);
      case "float_timestamp":
        return at.getTime() / 1000;
      case "timezone_name":
      case "tzinfo":
        return "UTC";
      default:
        return METHODS.has(name)
          ? new Callable(name, (args, keywords) => METHODS.get(name)?.(this, args, keywords) ?? null)
          : undefined;
    }
  }

  override text(): string {
    return isoformat(this.at, " ");
  }

  override json(): Json {
    return isoformat(this.at);
  }

  override compare(other: Value): number | undefined {
    return other instanceof DateValue ? this.at.getTime() - other.at.getTime() : undefined;
  }

  plus(ms: number): DateValue {
    return new DateValue(new Date(this.at.getTime() + ms));
  }
}

export class DurationValue extends Thing {
  readonly ms: number;

  constructor(ms: number) {
    super();
    if (!Number.isFinite(ms)) throw new TemplateError("a duration is out of range");
    this.ms = ms;
  }

  override member(name: string): Value | undefined {
    const days = Math.floor(this.ms / UNITS.days);
    switch (name) {
      case "days":
        return days;
      case "seconds":
        return Math.floor((this.ms - days * UNITS.days) / 1000);
      case "total_seconds":
        return new Callable(name, () => this.ms / 1000);
      default:
        return undefined;
    }
  }

  /** As Python writes a timedelta: `1 day, 2:03:04`. */
  override text(): string {
    const days = Math.floor(this.ms / 86_400_000);
    const rest = this.ms - days * 86_400_000;
    const clock = `${Math.floor(rest / 3_600_000)}:${strftime(new Date(rest), "%M:%S")}`;
    return days === 0 ? clock : `${days} day${Math.abs(days) === 1 ? "" : "s"}, ${clock}`;
  }

  override json(): Json {
    return this.ms / 1000;
  }

  override compare(other: Value): number | undefined {
    return other instanceof DurationValue ? this.ms - other.ms : undefined;
  }
}

/** Python's `isoformat()` in UTC. */
export function isoformat(at: Date, between = "T"): string {
  const [date = "", rest = ""] = at.toISOString().split("T");
  const [clock = "", fraction = "000Z"] = rest.split(".");
  const millis = fraction.slice(0, 3);
  return `${date}${between}${clock}${millis === "000" ? "" : `.${millis}000`}+00:00`;
}

/** `timedelta(days=1, …)`. */
export function durationOf(args: readonly Value[], keywords: Keywords): DurationValue {
  const names = ["days", "seconds", "microseconds", "milliseconds", "minutes", "hours", "weeks"];
  const bound = bind("timedelta", names, args, keywords);
  const ms = names.reduce((sum, name, i) => {
    const count = bound[i];
    return count === undefined ? sum : sum + needNumber(name, count) * unitOf(name);
  }, 0);
  return new DurationValue(ms);
}

type Method = (date: DateValue, args: readonly Value[], keywords: Keywords) => Value;

const METHODS: ReadonlyMap<string, Method> = new Map<string, Method>([
  ["isoformat", ({ at }) => isoformat(at)],
  ["to_iso8601_string", ({ at }) => isoformat(at).replace("+00:00", "Z")],
  ["to_date_string", ({ at }) => strftime(at, "%Y-%m-%d")],
  ["to_time_string", ({ at }) => strftime(at, "%H:%M:%S")],
  ["to_datetime_string", ({ at }) => strftime(at, "%Y-%m-%d %H:%M:%S")],
  ["date", ({ at }) => strftime(at, "%Y-%m-%d")],
  [
    "strftime",
    ({ at }, args, keywords) => strftime(at, needText("the format", bind("strftime", ["format"], args, keywords)[0])),
  ],
  ["timestamp", ({ at }) => at.getTime() / 1000],
  ["weekday", ({ at }) => (at.getUTCDay() + 6) % 7],
  ["isoweekday", ({ at }) => at.getUTCDay() || 7],
  ["add", (date, args, keywords) => shift(date, args, keywords, 1)],
  ["subtract", (date, args, keywords) => shift(date, args, keywords, -1)],
  ["replace", replace],
  [
    "start_of",
    (date, args, keywords) => startOf(date, needText("the unit", bind("start_of", ["unit"], args, keywords)[0])),
  ],
  ["end_of", (date, args, keywords) => endOf(date, needText("the unit", bind("end_of", ["unit"], args, keywords)[0]))],
  ["diff", diff],
  ["in_timezone", inTimezone],
  ["in_tz", inTimezone],
  ["astimezone", inTimezone],
]);

function shift(date: DateValue, args: readonly Value[], keywords: Keywords, sign: 1 | -1): DateValue {
  const [first] = args;
  if (first instanceof DurationValue) return date.plus(sign * first.ms);
  const names = [...CALENDAR, ...Object.keys(UNITS)];
  const bound = bind(sign === 1 ? "add" : "subtract", names, args, keywords);
  const of = (name: string): number => {
    const value = bound[names.indexOf(name)];
    return value === undefined
      ? 0
      : sign * (CALENDAR.includes(name) ? needInteger(name, value) : needNumber(name, value));
  };
  const months = of("years") * 12 + of("months");
  const ms = Object.entries(UNITS).reduce((sum, [name, unit]) => sum + of(name) * unit, 0);
  return inMonths(date, months).plus(ms);
}

/** The same day of another month, or its last one. */
function inMonths(date: DateValue, months: number): DateValue {
  if (months === 0) return date;
  const { at } = date;
  const moved = new Date(at);
  moved.setUTCDate(1);
  moved.setUTCMonth(at.getUTCMonth() + months);
  moved.setUTCDate(Math.min(at.getUTCDate(), daysIn(moved.getUTCFullYear(), moved.getUTCMonth())));
  return new DateValue(moved);
}

const daysIn = (year: number, month: number): number => new Date(Date.UTC(year, month + 1, 0)).getUTCDate();

function replace({ at }: DateValue, args: readonly Value[], keywords: Keywords): DateValue {
  const bound = bind("replace", PARTS, args, keywords);
  const now = [
    at.getUTCFullYear(),
    at.getUTCMonth() + 1,
    at.getUTCDate(),
    at.getUTCHours(),
    at.getUTCMinutes(),
    at.getUTCSeconds(),
    at.getUTCMilliseconds() * 1000,
  ];
  return dateOf(now.map((value, i) => (bound[i] === undefined ? value : needInteger(PARTS[i] ?? "", bound[i]))));
}

/** Year, month, day, hour, minute, second, microsecond. @throws TemplateError when there is no such time */
export function dateOf(parts: readonly number[]): DateValue {
  const [year = 1970, month = 1, day = 1, hour = 0, minute = 0, second = 0, micro = 0] = parts;
  const at = new Date(0);
  at.setUTCFullYear(year, month - 1, day);
  at.setUTCHours(hour, minute, second, Math.floor(micro / 1000));
  const isSame =
    at.getUTCMonth() === month - 1 &&
    at.getUTCDate() === day &&
    at.getUTCHours() === hour &&
    at.getUTCMinutes() === minute &&
    at.getUTCSeconds() === second;
  if (!isSame) throw new TemplateError(`there is no time ${parts.join(", ")}`);
  return new DateValue(at);
}

function startOf(date: DateValue, unit: string): DateValue {
  const { at } = date;
  const parts = [at.getUTCFullYear(), at.getUTCMonth() + 1, at.getUTCDate(), at.getUTCHours(), at.getUTCMinutes()];
  const kept = ["year", "month", "day", "hour", "minute"].indexOf(unit);
  if (kept >= 0) return dateOf(parts.slice(0, kept + 1));
  if (unit === "week") return dateOf(parts.slice(0, 3)).plus(-((at.getUTCDay() + 6) % 7) * UNITS.days);
  throw new TemplateError(`"${unit}" must be year, month, week, day, hour or minute`);
}

function endOf(date: DateValue, unit: string): DateValue {
  const start = startOf(date, unit);
  if (unit === "year" || unit === "month") return inMonths(start, unit === "year" ? 12 : 1).plus(-1);
  return start.plus(unitOf(`${unit}s`) - 1);
}

function diff(date: DateValue, args: readonly Value[]): Value {
  const [other] = args;
  if (!(other instanceof DateValue)) throw new TemplateError("diff() takes a date");
  const seconds = Math.abs(other.at.getTime() - date.at.getTime()) / 1000;
  const inUnits = (unit: number): Callable => new Callable("in_units", () => Math.floor((seconds * 1000) / unit));
  return new Names("the time between two dates", {
    in_weeks: inUnits(UNITS.weeks),
    in_days: inUnits(UNITS.days),
    in_hours: inUnits(UNITS.hours),
    in_minutes: inUnits(UNITS.minutes),
    in_seconds: inUnits(UNITS.seconds),
    total_seconds: new Callable("total_seconds", () => seconds),
  });
}

function inTimezone(date: DateValue, args: readonly Value[], keywords: Keywords): Value {
  const zone = needText("the time zone", bind("in_timezone", ["tz"], args, keywords)[0]);
  return zone === "UTC" ? date : new ZonedDate(date, zone);
}

/** A date as the clocks of a zone show it: to be written, not calculated with. */
class ZonedDate extends Thing {
  readonly #date: DateValue;
  readonly #shown: DateValue;
  readonly #zone: string;

  constructor(date: DateValue, zone: string) {
    super();
    this.#date = date;
    this.#zone = zone;
    this.#shown = date.plus(offsetMs(date.at, zone));
  }

  #offset(colon: string): string {
    const minutes = Math.round((this.#shown.at.getTime() - this.#date.at.getTime()) / 60_000);
    const [hours, rest] = [Math.floor(Math.abs(minutes) / 60), Math.abs(minutes) % 60];
    return `${minutes < 0 ? "-" : "+"}${String(hours).padStart(2, "0")}${colon}${String(rest).padStart(2, "0")}`;
  }

  override member(name: string): Value | undefined {
    if (name === "strftime") {
      return new Callable(name, (args, keywords) => {
        const format = needText("the format", bind(name, ["format"], args, keywords)[0]);
        const own = format.replace(/%%|%[zZ]/g, (found) =>
          found === "%z" ? this.#offset("") : found === "%Z" ? this.#zone.replaceAll("%", "%%") : found,
        );
        return strftime(this.#shown.at, own);
      });
    }
    if (name === "isoformat") return new Callable(name, () => this.text().replace(" ", "T"));
    if (name === "in_timezone" || name === "in_tz" || name === "astimezone") return this.#date.member(name);
    if (name === "timezone_name") return this.#zone;
    const isShown =
      PARTS.includes(name) ||
      /^(to_(date|time|datetime)_string|date|weekday|isoweekday|day_of_\w+|quarter)$/.test(name);
    return isShown ? this.#shown.member(name) : undefined;
  }

  override text(): string {
    return isoformat(this.#shown.at, " ").replace("+00:00", this.#offset(":"));
  }

  override compare(other: Value): number | undefined {
    return this.#date.compare(other instanceof ZonedDate ? other.#date : other);
  }
}

function offsetMs(at: Date, zone: string): number {
  let parts: Intl.DateTimeFormatPart[];
  try {
    const options = { timeZone: zone, hourCycle: "h23", era: "short" } as const;
    const all = {
      year: "numeric",
      month: "numeric",
      day: "numeric",
      hour: "numeric",
      minute: "numeric",
      second: "numeric",
    } as const;
    parts = new Intl.DateTimeFormat("en-US", { ...options, ...all }).formatToParts(at);
  } catch {
    throw new TemplateError(`there is no time zone "${zone}"`);
  }
  const of = (type: string): number => Number(parts.find((part) => part.type === type)?.value ?? 0);
  const local = Date.UTC(of("year"), of("month") - 1, of("day"), of("hour"), of("minute"), of("second"));
  return local - Math.floor(at.getTime() / 1000) * 1000;
}
