// The filters of Jinja that templates of data pipelines use, Airflow's for dates, and `quote` for the shell.
import { bind, needInteger, needNumber, needText } from "./arguments.ts";
import type { Budget } from "./budget.ts";
import { dsOf, tsNodashOf, tsOf, tsNodashWithTzOf } from "./date-forms.ts";
import { DateValue } from "./date-value.ts";
import { capitalize, itemOf, joinTexts, memberOf, replaceText, strip, titleCase } from "./members.ts";
import { TemplateError } from "./template-error.ts";
import { shellQuote } from "./code-text.ts";
import {
  compareValues,
  fromJson,
  isEqual,
  isList,
  isMap,
  kindOf,
  lettersOf,
  textOf,
  toJson,
  truthOf,
  Undefined,
  type Keywords,
  type Value,
} from "./values.ts";

export interface FilterCall {
  readonly value: Value;
  readonly args: readonly Value[];
  readonly keywords: Keywords;
  readonly budget: Budget;
}

type Filter = (call: FilterCall) => Value;

/** What a filter is applied to, when it must be there. */
const present = ({ value }: FilterCall): Value => (value instanceof Undefined ? value.fail() : value);
const textIn = (call: FilterCall): string => textOf(present(call), call.budget);

export function listIn({ budget, ...call }: FilterCall): readonly Value[] {
  const value = present({ ...call, budget });
  if (typeof value === "string") return budget.list(lettersOf(value));
  if (isMap(value)) return budget.list([...value.keys()]);
  if (isList(value)) return budget.list(value);
  throw new TemplateError(`${kindOf(value)} is no list`);
}

const onText =
  (use: (text: string, call: FilterCall) => string): Filter =>
  (call) =>
    call.budget.text(use(textIn(call), call));

const onDate =
  (write: (at: Date) => string): Filter =>
  (call) => {
    const value = present(call);
    if (value instanceof DateValue) return write(value.at);
    throw new TemplateError(`this filter needs a date, got ${kindOf(value)}`);
  };

const named = (title: string, names: readonly string[], { args, keywords }: FilterCall) =>
  bind(title, names, args, keywords);

/** By `attribute`, which can be a path, or the item itself. */
function keyOf(attribute: Value | undefined, budget: Budget): (item: Value) => Value {
  if (attribute === undefined || attribute === null) return (item) => item;
  const path = textOf(attribute, budget).split(".");
  return (item) => path.reduce((at: Value, step) => stepInto(at, step, budget), item);
}

const stepInto = (at: Value, step: string, budget: Budget): Value =>
  /^\d+$/.test(step) && isList(at) ? itemOf(at, Number(step), step, budget) : memberOf(at, step, step, budget);

function sorted(items: readonly Value[], key: (item: Value) => Value, caseSensitive: boolean, budget: Budget): Value[] {
  const fold = (value: Value): Value => (typeof value === "string" && !caseSensitive ? value.toLowerCase() : value);
  return items
    .map((item) => [fold(key(item)), item] as const)
    .sort(([a], [b]) => compareValues(a, b, budget))
    .map(([, item]) => item);
}

export const FILTERS: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ["ds", onDate(dsOf)],
  ["ds_nodash", onDate((at) => dsOf(at).replaceAll("-", ""))],
  ["ts", onDate(tsOf)],
  ["ts_nodash", onDate(tsNodashOf)],
  ["ts_nodash_with_tz", onDate(tsNodashWithTzOf)],
  ["isoformat", onDate(tsOf)],
  ["quote", (call) => call.budget.text(shellQuote(textIn(call)))],
  ["safe", present],
  ["string", onText((text) => text)],
  ["upper", onText((text) => text.toUpperCase())],
  ["lower", onText((text) => text.toLowerCase())],
  ["capitalize", onText(capitalize)],
  ["title", onText(titleCase)],
  [
    "trim",
    onText((text, call) => {
      const [chars] = named("trim", ["chars"], call);
      return strip(text, chars === undefined ? undefined : needText("chars", chars), true, true);
    }),
  ],
  [
    "replace",
    (call) => {
      const [old, by, count = -1] = named("replace", ["old", "new", "count"], call);
      const times = count === null ? -1 : needInteger("count", count);
      return replaceText(textIn(call), needText("old", old), needText("new", by), times, call.budget);
    },
  ],
  [
    "indent",
    (call) => {
      const [width = 4, first = false, blank = false] = named("indent", ["width", "first", "blank"], call);
      const text = textIn(call);
      const length = typeof width === "string" ? width.length : needInteger("width", width);
      const lines = text.split("\n");
      call.budget.length(text.length + lines.length * Math.max(0, length));
      const by = typeof width === "string" ? width : " ".repeat(Math.max(0, length));
      return lines
        .map((line, i) => ((i === 0 && !truthOf(first)) || (line === "" && !truthOf(blank)) ? line : by + line))
        .join("\n");
    },
  ],
  [
    "truncate",
    (call) => {
      const [length = 255, killwords = false, end = "..."] = named("truncate", ["length", "killwords", "end"], call);
      const [text, max, mark] = [textIn(call), needInteger("length", length), needText("end", end)];
      if (text.length <= max) return text;
      const cut = text.slice(0, Math.max(0, max - mark.length));
      return (truthOf(killwords) ? cut : cut.replace(/\s+\S*$/, "")) + mark;
    },
  ],
  [
    "default",
    ({ value, args, keywords }) => {
      const [otherwise = "", falsy = false] = bind("default", ["default_value", "boolean"], args, keywords);
      return value instanceof Undefined || (truthOf(falsy) && !truthOf(value)) ? otherwise : value;
    },
  ],
  [
    "int",
    (call) => {
      const [otherwise = 0, base = 10] = named("int", ["default", "base"], call);
      const value = present(call);
      if (typeof value === "number") return Math.trunc(value);
      if (typeof value === "boolean") return Number(value);
      const text = typeof value === "string" ? value.trim() : "";
      const radix = needInteger("base", base);
      const whole =
        /^[+-]?[\da-z]+$/i.test(text) && radix >= 2 && radix <= 36
          ? Number.parseInt(text, radix)
          : Math.trunc(Number(text || Number.NaN));
      return Number.isFinite(whole) ? whole : otherwise;
    },
  ],
  [
    "float",
    (call) => {
      const [otherwise = 0] = named("float", ["default"], call);
      const value = present(call);
      const found =
        typeof value === "string" && value.trim() === ""
          ? Number.NaN
          : Number(isList(value) || isMap(value) ? Number.NaN : textOf(value, call.budget));
      return Number.isFinite(found) ? found : otherwise;
    },
  ],
  ["abs", (call) => Math.abs(needNumber("the value", present(call)))],
  [
    "round",
    (call) => {
      const [precision = 0, method = "common"] = named("round", ["precision", "method"], call);
      const factor = 10 ** needInteger("precision", precision);
      const scaled = needNumber("the value", present(call)) * factor;
      const whole =
        method === "ceil" ? Math.ceil(scaled) : method === "floor" ? Math.floor(scaled) : Math.round(scaled);
      return whole / factor;
    },
  ],
  ["length", (call) => lengthOf(present(call))],
  ["count", (call) => lengthOf(present(call))],
  ["list", listIn],
  ["first", (call) => at(listIn(call), 0)],
  ["last", (call) => at(listIn(call), -1)],
  [
    "reverse",
    (call) => {
      const items = [...listIn(call)].reverse();
      return typeof call.value === "string" ? items.join("") : items;
    },
  ],
  [
    "sort",
    (call) => {
      const [reverse = false, caseSensitive = false, attribute] = named(
        "sort",
        ["reverse", "case_sensitive", "attribute"],
        call,
      );
      const items = sorted(listIn(call), keyOf(attribute, call.budget), truthOf(caseSensitive), call.budget);
      return truthOf(reverse) ? items.reverse() : items;
    },
  ],
  [
    "unique",
    (call) => {
      const found: Value[] = [];
      for (const item of listIn(call)) if (!found.some((known) => isEqual(known, item, call.budget))) found.push(item);
      return found;
    },
  ],
  [
    "join",
    (call) => {
      const [between = "", attribute] = named("join", ["d", "attribute"], call);
      const items = listIn(call).map(keyOf(attribute, call.budget));
      return joinTexts(items, needText("the separator", between), call.budget);
    },
  ],
  [
    "map",
    (call) => {
      const { args, keywords, budget } = call;
      const attribute = keywords.get("attribute");
      if (attribute !== undefined) {
        const otherwise = keywords.get("default");
        return listIn(call).map((item) => {
          const found = keyOf(attribute, budget)(item);
          return found instanceof Undefined ? (otherwise ?? found.fail()) : found;
        });
      }
      const [name, ...rest] = args;
      const filter = filterOf(needText("the filter of map", name));
      return listIn(call).map((value) => filter({ value, args: rest, keywords, budget }));
    },
  ],
  ["select", (call) => pick(call, true, false)],
  ["reject", (call) => pick(call, false, false)],
  ["selectattr", (call) => pick(call, true, true)],
  ["rejectattr", (call) => pick(call, false, true)],
  ["sum", (call) => sum(call)],
  ["min", (call) => extreme(call, -1)],
  ["max", (call) => extreme(call, 1)],
  [
    "batch",
    (call) => {
      const [size] = named("batch", ["linecount"], call);
      const step = Math.max(1, needInteger("linecount", size));
      const items = listIn(call);
      return Array.from({ length: Math.ceil(items.length / step) }, (_, i) => items.slice(i * step, (i + 1) * step));
    },
  ],
  [
    "dictsort",
    (call) => {
      const [caseSensitive = false, by = "key", reverse = false] = named(
        "dictsort",
        ["case_sensitive", "by", "reverse"],
        call,
      );
      const value = present(call);
      if (!isMap(value)) throw new TemplateError(`dictsort needs a dict, got ${kindOf(value)}`);
      const pairs = [...value].map(([key, item]): readonly Value[] => [key, item]);
      const at = by === "value" ? 1 : 0;
      const items = sorted(
        pairs,
        (pair) => (isList(pair) ? (pair[at] ?? null) : pair),
        truthOf(caseSensitive),
        call.budget,
      );
      return truthOf(reverse) ? items.reverse() : items;
    },
  ],
  [
    "items",
    (call) => {
      const value = present(call);
      if (!isMap(value)) throw new TemplateError(`items needs a dict, got ${kindOf(value)}`);
      return [...value].map(([key, item]): readonly Value[] => [key, item]);
    },
  ],
  [
    "attr",
    (call) => {
      const name = needText("the name", named("attr", ["name"], call)[0]);
      return memberOf(present(call), name, name, call.budget);
    },
  ],
  [
    "tojson",
    (call) => {
      const [indent] = named("tojson", ["indent"], call);
      const spaces = indent === undefined || indent === null ? undefined : Math.min(16, needInteger("indent", indent));
      const json = JSON.stringify(toJson(present(call), call.budget), undefined, spaces);
      return call.budget.text(json);
    },
  ],
  ["fromjson", (call) => parseJson(textIn(call))],
  ["urlencode", onText((text) => encodeURIComponent(text).replaceAll("%2F", "/"))],
  [
    "format",
    (call) => {
      let next = 0;
      let length = 0;
      const written = textIn(call).replace(
        /%%|%(?:\((\w+)\))?(-?)(0?)(\d*)(?:\.(\d+))?([sdifr])/g,
        (
          whole,
          name: string | undefined,
          left: string,
          zero: string,
          width: string,
          precision: string | undefined,
          kind: string,
        ) => {
          if (whole === "%%") return "%";
          const value = name === undefined ? call.args[next++] : call.keywords.get(name);
          if (value === undefined) throw new TemplateError(`format: there is nothing for "${whole}"`);
          const digits = precision === undefined ? 6 : Math.min(20, Number(precision));
          const text =
            kind === "f"
              ? needNumber(whole, value).toFixed(digits)
              : kind === "d" || kind === "i"
                ? String(Math.trunc(needNumber(whole, value)))
                : textOf(value, call.budget);
          call.budget.length(Number(width));
          const padded =
            left === "-" ? text.padEnd(Number(width)) : text.padStart(Number(width), zero === "0" ? "0" : " ");
          call.budget.length((length += padded.length));
          return padded;
        },
      );
      return call.budget.text(written);
    },
  ],
]);

const ALIASES: Readonly<Record<string, string>> = { d: "default", e: "safe", escape: "safe" };

/** @throws TemplateError when there is no such filter */
export function filterOf(name: string): Filter {
  const filter = FILTERS.get(Object.hasOwn(ALIASES, name) ? (ALIASES[name] ?? name) : name);
  if (filter === undefined) throw new TemplateError(`there is no filter "${name}"`);
  return filter;
}

function at(items: readonly Value[], index: number): Value {
  const item = items.at(index);
  return item === undefined ? new Undefined("an item of an empty list") : item;
}

function lengthOf(value: Value): number {
  if (typeof value === "string") return lettersOf(value).length;
  if (isList(value)) return value.length;
  if (isMap(value)) return value.size;
  throw new TemplateError(`${kindOf(value)} has no length`);
}

export function parseJson(text: string): Value {
  try {
    return fromJson(JSON.parse(text) as Parameters<typeof fromJson>[0]); // what JSON.parse gives
  } catch {
    throw new TemplateError("it is no JSON");
  }
}

/** `select("odd")`, `selectattr("x", "equalto", 1)`; without a test: the truth. */
function pick(call: FilterCall, wanted: boolean, byAttribute: boolean): readonly Value[] {
  const { args, budget } = call;
  const [attribute, rest] = byAttribute ? [args[0], args.slice(1)] : [undefined, args];
  const [test, argument] = rest;
  const key = keyOf(attribute, budget);
  return listIn(call).filter((item) => {
    const value = key(item);
    const holds =
      test === undefined
        ? !(value instanceof Undefined) && truthOf(value)
        : testValue(textOf(test, budget), value, argument, budget);
    return holds === wanted;
  });
}

function sum(call: FilterCall): number {
  const [attribute, start = 0] = named("sum", ["attribute", "start"], call);
  const items = listIn(call).map(keyOf(attribute, call.budget));
  return items.reduce<number>((total, item) => total + needNumber("an item of sum", item), needNumber("start", start));
}

function extreme(call: FilterCall, sign: 1 | -1): Value {
  const items = listIn(call);
  return items.reduce<Value>(
    (best, item) => (best instanceof Undefined || sign * compareValues(item, best, call.budget) > 0 ? item : best),
    new Undefined("the extreme of an empty list"),
  );
}

/** `value is test`. @throws TemplateError when there is no such test */
export function testValue(test: string, value: Value, argument: Value | undefined, budget: Budget): boolean {
  if (test === "defined") return !(value instanceof Undefined);
  if (test === "undefined") return value instanceof Undefined;
  if (value instanceof Undefined) return value.fail();
  switch (test) {
    case "none":
      return value === null;
    case "true":
      return value === true;
    case "false":
      return value === false;
    case "boolean":
      return typeof value === "boolean";
    case "string":
      return typeof value === "string";
    case "number":
      return typeof value === "number";
    case "integer":
      return Number.isInteger(value);
    case "float":
      return typeof value === "number" && !Number.isInteger(value);
    case "odd":
      return Math.abs(needNumber("the value", value)) % 2 === 1;
    case "even":
      return needNumber("the value", value) % 2 === 0;
    case "iterable":
    case "sequence":
      return typeof value === "string" || isList(value) || isMap(value);
    case "mapping":
      return isMap(value);
    case "lower":
      return typeof value === "string" && value === value.toLowerCase();
    case "upper":
      return typeof value === "string" && value === value.toUpperCase();
    case "divisibleby":
      return needNumber("the value", value) % needNumber("the divisor", argument) === 0;
    case "eq":
    case "equalto":
    case "==":
      return isEqual(value, argument ?? null, budget);
    case "ne":
    case "!=":
      return !isEqual(value, argument ?? null, budget);
    case "gt":
    case "greaterthan":
    case ">":
      return compareValues(value, argument ?? null, budget) > 0;
    case "ge":
    case ">=":
      return compareValues(value, argument ?? null, budget) >= 0;
    case "lt":
    case "lessthan":
    case "<":
      return compareValues(value, argument ?? null, budget) < 0;
    case "le":
    case "<=":
      return compareValues(value, argument ?? null, budget) <= 0;
    case "in":
      return isList(argument ?? null) && (argument as readonly Value[]).some((item) => isEqual(item, value, budget)); // just seen to be a list
    default:
      throw new TemplateError(`there is no test "${test}"`);
  }
}
