// Filters that take a list (or a text, letter by letter, or the keys of a dict). `map` is in filters.ts: it needs the others.
import { needInteger, needNumber, needText } from "../arguments.ts";
import type { Budget } from "../budget.ts";
import { joinTexts } from "../members.ts";
import { TemplateError } from "../template-error.ts";
import {
  compareValues,
  isEqual,
  isList,
  isMap,
  kindOf,
  lettersOf,
  textOf,
  truthOf,
  Undefined,
  type Value,
} from "../values.ts";
import { keyOf, listIn, named, present, type Filter, type FilterCall } from "./filter-call.ts";
import { testValue } from "./jinja-tests.ts";

export const LIST_FILTERS: ReadonlyMap<string, Filter> = new Map<string, Filter>([
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
]);

function sorted(items: readonly Value[], key: (item: Value) => Value, caseSensitive: boolean, budget: Budget): Value[] {
  const fold = (value: Value): Value => (typeof value === "string" && !caseSensitive ? value.toLowerCase() : value);
  return items
    .map((item) => [fold(key(item)), item] as const)
    .sort(([a], [b]) => compareValues(a, b, budget))
    .map(([, item]) => item);
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
