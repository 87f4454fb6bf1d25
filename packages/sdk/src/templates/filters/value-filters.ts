// Filters of single values: Airflow's for dates, numbers, JSON, and what stands in for a value that is not there.
import { bind, needInteger, needNumber, needText } from "../arguments.ts";
import { dsOf, tsNodashOf, tsNodashWithTzOf, tsOf } from "../date-forms.ts";
import { DateValue } from "../date-value.ts";
import { memberOf } from "../members.ts";
import { TemplateError } from "../template-error.ts";
import { isList, isMap, kindOf, parseJson, textOf, toJson, truthOf, Undefined } from "../values.ts";
import { named, present, textIn, type Filter } from "./filter-call.ts";

const onDate =
  (write: (at: Date) => string): Filter =>
  (call) => {
    const value = present(call);
    if (value instanceof DateValue) return write(value.at);
    throw new TemplateError(`this filter needs a date, got ${kindOf(value)}`);
  };

export const VALUE_FILTERS: ReadonlyMap<string, Filter> = new Map<string, Filter>([
  ["ds", onDate(dsOf)],
  ["ds_nodash", onDate((at) => dsOf(at).replaceAll("-", ""))],
  ["ts", onDate(tsOf)],
  ["ts_nodash", onDate(tsNodashOf)],
  ["ts_nodash_with_tz", onDate(tsNodashWithTzOf)],
  ["isoformat", onDate(tsOf)],
  ["safe", present],
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
]);
