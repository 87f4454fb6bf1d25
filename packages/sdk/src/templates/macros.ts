// Airflow's `macros`: the functions of dates, and what of Python's modules a template needs.
import { randomUUID } from "node:crypto";
import { bind, needInteger, needText } from "./arguments.ts";
import { dateOf, DateValue, durationOf } from "./date-value.ts";
import { strftime, strptime } from "./strftime.ts";
import { TemplateError } from "./template-error.ts";
import { Callable, Names, parseJson, toJson, type Value } from "./values.ts";

const DAY = "%Y-%m-%d";
const HUMAN: readonly (readonly [string, number])[] = [
  ["year", 31_536_000],
  ["month", 2_592_000],
  ["week", 604_800],
  ["day", 86_400],
  ["hour", 3_600],
  ["minute", 60],
  ["second", 1],
];

const datetime = new Callable("datetime", (args, keywords) => {
  const names = ["year", "month", "day", "hour", "minute", "second", "microsecond", "tzinfo"];
  const bound = bind("datetime", names, args, keywords).slice(0, 7);
  return dateOf(bound.map((value, i) => (value === undefined ? (i < 3 ? 1 : 0) : needInteger(names[i] ?? "", value))));
});

/** Both `macros.datetime(2026, 1, 1)` and `macros.datetime.strptime(…)` are in use: what is called has members, too. */
class DatetimeMacro extends Callable {
  override member(name: string): Value | undefined {
    switch (name) {
      case "strptime":
        return new Callable(name, (args, keywords) => {
          const [text, format] = bind(name, ["date_string", "format"], args, keywords);
          return new DateValue(strptime(needText("the date", text), needText("the format", format)));
        });
      case "fromisoformat":
        return new Callable(name, (args) => parseDate(needText("the date", args[0])));
      case "now":
      case "utcnow":
        return new Callable(name, () => new DateValue(new Date()));
      case "timedelta":
        return new Callable(name, durationOf);
      case "datetime":
        return this;
      default:
        return undefined;
    }
  }
}

/** @throws TemplateError unless it is a date of ISO 8601 */
export function parseDate(text: string): DateValue {
  const isIso = /^\d{4}-\d{2}-\d{2}([T ]\d{2}:\d{2}(:\d{2}(\.\d+)?)?)?(Z|[+-]\d{2}:?\d{2})?$/.test(text);
  const zoned = /(Z|[+-]\d{2}:?\d{2})$/.test(text.slice(10)) || text.length === 10 ? text : `${text}Z`;
  const at = new Date(zoned);
  if (!isIso || Number.isNaN(at.getTime())) throw new TemplateError(`"${text}" is no date of ISO 8601`);
  return new DateValue(at);
}

export const MACROS = new Names("macros", {
  ds_add: new Callable("ds_add", (args, keywords) => {
    const [ds, days] = bind("ds_add", ["ds", "days"], args, keywords);
    const start = new DateValue(strptime(needText("ds", ds), DAY));
    return strftime(start.plus(needInteger("days", days) * 86_400_000).at, DAY);
  }),
  ds_format: new Callable("ds_format", (args, keywords) => {
    const [ds, from, to] = bind("ds_format", ["ds", "input_format", "output_format"], args, keywords);
    return strftime(strptime(needText("ds", ds), needText("input_format", from)), needText("output_format", to));
  }),
  ds_format_locale: new Callable("ds_format_locale", (args, keywords) => {
    const names = ["ds", "input_format", "output_format", "locale"];
    const [ds, from, to, locale = "en_US"] = bind("ds_format_locale", names, args, keywords);
    if (!/^en/i.test(needText("locale", locale ?? "en")))
      throw new TemplateError("ds_format_locale knows English only");
    return strftime(strptime(needText("ds", ds), needText("input_format", from)), needText("output_format", to));
  }),
  datetime_diff_for_humans: new Callable("datetime_diff_for_humans", (args, keywords) => {
    const [date, since] = bind("datetime_diff_for_humans", ["dt", "since"], args, keywords);
    if (!(date instanceof DateValue)) throw new TemplateError("datetime_diff_for_humans() takes a date");
    const other = since instanceof DateValue ? since.at.getTime() : Date.now();
    const seconds = (date.at.getTime() - other) / 1000;
    const [unit = "second", length = 1] = HUMAN.find(([, size]) => Math.abs(seconds) >= size) ?? [];
    const count = Math.max(1, Math.floor(Math.abs(seconds) / length));
    const words = `${count} ${unit}${count === 1 ? "" : "s"}`;
    const [before, after] = since instanceof DateValue ? ["before", "after"] : ["ago", "from now"];
    return `${words} ${seconds < 0 ? before : after}`;
  }),
  datetime: new DatetimeMacro("datetime", datetime.call),
  timedelta: new Callable("timedelta", durationOf),
  time: new Names("time", { time: new Callable("time", () => Date.now() / 1000) }),
  uuid: new Names("uuid", { uuid4: new Callable("uuid4", () => randomUUID()) }),
  random: new Callable("random", () => Math.random()),
  json: new Names("json", {
    dumps: new Callable("dumps", (args, _keywords, budget) => JSON.stringify(toJson(args[0] ?? null, budget))),
    loads: new Callable("loads", (args) => parseJson(needText("the text", args[0]))),
  }),
  dateutil: new Names("dateutil", {
    parser: new Names("parser", { parse: new Callable("parse", (args) => parseDate(needText("the date", args[0]))) }),
  }),
});
