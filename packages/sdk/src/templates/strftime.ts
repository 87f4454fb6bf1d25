// Python's date formats, in UTC and in English, whatever the locale of the machine.
import { TemplateError } from "./template-error.ts";

const DAYS = ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday"];
const MONTHS = [
  "January",
  "February",
  "March",
  "April",
  "May",
  "June",
  "July",
  "August",
  "September",
  "October",
  "November",
  "December",
];
const DAY_MS = 86_400_000;

const pad = (value: number, width = 2): string => String(value).padStart(width, "0");
const dayOfYear = (at: Date): number => Math.floor((at.getTime() - Date.UTC(at.getUTCFullYear(), 0, 1)) / DAY_MS) + 1;
const hour12 = (at: Date): number => at.getUTCHours() % 12 || 12;

/** Year and week of ISO 8601: the week that has the year's first Thursday is its first. */
export function isoWeek(at: Date): { readonly year: number; readonly week: number } {
  const thursday = new Date(at.getTime() + (3 - ((at.getUTCDay() + 6) % 7)) * DAY_MS);
  return { year: thursday.getUTCFullYear(), week: Math.floor((dayOfYear(thursday) - 1) / 7) + 1 };
}

const FORMATS: Readonly<Record<string, (at: Date) => string>> = {
  a: (at) => (DAYS[at.getUTCDay()] ?? "").slice(0, 3),
  A: (at) => DAYS[at.getUTCDay()] ?? "",
  w: (at) => String(at.getUTCDay()),
  u: (at) => String(at.getUTCDay() || 7),
  d: (at) => pad(at.getUTCDate()),
  e: (at) => String(at.getUTCDate()).padStart(2),
  b: (at) => (MONTHS[at.getUTCMonth()] ?? "").slice(0, 3),
  h: (at) => (MONTHS[at.getUTCMonth()] ?? "").slice(0, 3),
  B: (at) => MONTHS[at.getUTCMonth()] ?? "",
  m: (at) => pad(at.getUTCMonth() + 1),
  y: (at) => pad(at.getUTCFullYear() % 100),
  Y: (at) => pad(at.getUTCFullYear(), 4),
  H: (at) => pad(at.getUTCHours()),
  I: (at) => pad(hour12(at)),
  p: (at) => (at.getUTCHours() < 12 ? "AM" : "PM"),
  M: (at) => pad(at.getUTCMinutes()),
  S: (at) => pad(at.getUTCSeconds()),
  f: (at) => `${pad(at.getUTCMilliseconds(), 3)}000`,
  z: () => "+0000",
  Z: () => "UTC",
  j: (at) => pad(dayOfYear(at), 3),
  U: (at) => pad(Math.floor((dayOfYear(at) + 6 - at.getUTCDay()) / 7)),
  W: (at) => pad(Math.floor((dayOfYear(at) + 6 - ((at.getUTCDay() + 6) % 7)) / 7)),
  V: (at) => pad(isoWeek(at).week),
  G: (at) => pad(isoWeek(at).year, 4),
  s: (at) => String(Math.floor(at.getTime() / 1000)),
  D: (at) => strftime(at, "%m/%d/%y"),
  F: (at) => strftime(at, "%Y-%m-%d"),
  T: (at) => strftime(at, "%H:%M:%S"),
  R: (at) => strftime(at, "%H:%M"),
  c: (at) => strftime(at, "%a %b %e %H:%M:%S %Y"),
  x: (at) => strftime(at, "%m/%d/%y"),
  X: (at) => strftime(at, "%H:%M:%S"),
  n: () => "\n",
  t: () => "\t",
  "%": () => "%",
};

/** @throws TemplateError for a directive that Python's documentation does not name */
export function strftime(at: Date, format: string): string {
  return format.replace(/%(-?)([\s\S]|$)/g, (whole, bare: string, letter: string) => {
    const write = Object.hasOwn(FORMATS, letter) ? FORMATS[letter] : undefined;
    if (write === undefined) throw new TemplateError(`"${whole}" is no directive of a date format`);
    const text = write(at);
    return bare === "" ? text : text.replace(/^[0 ]+(?=.)/, "");
  });
}

interface Fields {
  year: number;
  month: number;
  day: number;
  hour: number;
  minute: number;
  second: number;
  milli: number;
  offsetMinutes: number;
  isAfternoon?: boolean;
}

const number = (digits: string): number => Number.parseInt(digits, 10);
const indexOf = (names: readonly string[], text: string, length?: number): number =>
  names.findIndex((known) => known.slice(0, length).toLowerCase() === text.toLowerCase());

const READERS: Readonly<Record<string, readonly [string, (text: string, fields: Fields) => void]>> = {
  Y: ["\\d{4}", (text, fields) => (fields.year = number(text))],
  y: ["\\d{2}", (text, fields) => (fields.year = number(text) + (number(text) < 69 ? 2000 : 1900))],
  m: ["\\d{1,2}", (text, fields) => (fields.month = number(text))],
  d: ["\\d{1,2}", (text, fields) => (fields.day = number(text))],
  B: [MONTHS.join("|"), (text, fields) => (fields.month = indexOf(MONTHS, text) + 1)],
  b: ["[A-Za-z]{3}", (text, fields) => (fields.month = indexOf(MONTHS, text, 3) + 1)],
  A: [DAYS.join("|"), () => undefined],
  a: ["[A-Za-z]{3}", () => undefined],
  H: ["\\d{1,2}", (text, fields) => (fields.hour = number(text))],
  I: ["\\d{1,2}", (text, fields) => (fields.hour = number(text) % 12)],
  p: ["[AaPp][Mm]", (text, fields) => (fields.isAfternoon = text.toLowerCase() === "pm")],
  M: ["\\d{1,2}", (text, fields) => (fields.minute = number(text))],
  S: ["\\d{1,2}", (text, fields) => (fields.second = number(text))],
  f: ["\\d{1,6}", (text, fields) => (fields.milli = Math.floor(number(text.padEnd(6, "0")) / 1000))],
  z: [
    "Z|[+-]\\d{2}:?\\d{2}",
    (text, fields) => {
      const minutes = text === "Z" ? 0 : number(text.slice(1, 3)) * 60 + number(text.slice(-2));
      fields.offsetMinutes = text.startsWith("-") ? -minutes : minutes;
    },
  ],
};

/** @throws TemplateError when the text is not of the format, or is no date */
export function strptime(text: string, format: string): Date {
  const wrong = () => new TemplateError(`"${text}" is not of the format "${format}"`);
  const used: ((text: string, fields: Fields) => void)[] = [];
  const letters = new Set<string>();
  const pattern = format.replace(/%([\s\S]|$)|[\s\S]/g, (whole, letter: string | undefined) => {
    if (letter === undefined) return whole.replace(/[.*+?^${}()|[\]\\/]/, "\\$&");
    if (letter === "%") return "%";
    const reader = Object.hasOwn(READERS, letter) ? READERS[letter] : undefined;
    if (reader === undefined) throw new TemplateError(`"${whole}" cannot be read from a date`);
    // As in Python; it also keeps the pattern from trying many ways to divide the same digits.
    if (letters.has(letter)) throw new TemplateError(`"${whole}" is twice in the format "${format}"`);
    letters.add(letter);
    used.push(reader[1]);
    return `(${reader[0]})`;
  });
  const found = new RegExp(`^${pattern}$`, "iu").exec(text);
  if (found === null) throw wrong();
  const fields: Fields = { year: 1900, month: 1, day: 1, hour: 0, minute: 0, second: 0, milli: 0, offsetMinutes: 0 };
  for (const [i, read] of used.entries()) read(found[i + 1] ?? "", fields);
  const { year, month, day, minute, second, milli, offsetMinutes } = fields;
  const hour = fields.hour + (fields.isAfternoon === true && fields.hour < 12 ? 12 : 0);
  const local = new Date(Date.UTC(year, month - 1, day, hour, minute, second, milli));
  local.setUTCFullYear(year, month - 1, day);
  const isSame = local.getUTCMonth() === month - 1 && local.getUTCDate() === day && local.getUTCHours() === hour;
  if (!isSame || minute > 59 || second > 59) throw wrong();
  return new Date(local.getTime() - offsetMinutes * 60_000);
}
