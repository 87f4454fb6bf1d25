// One check per kind of option. A check says what is wrong in words that follow the option's name, or undefined.
import { didYouMean } from "./did-you-mean.ts";

export type Check = (value: unknown) => string | undefined;

export function show(value: unknown): string {
  if (typeof value === "string") return JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value);
  if (typeof value === "function") return `the function ${value.name === "" ? "(anonymous)" : value.name}`;
  if (value instanceof Date)
    return Number.isNaN(value.getTime()) ? "an invalid Date" : `the Date ${value.toISOString()}`;
  if (typeof value === "object" && value !== null) return Array.isArray(value) ? "an array" : "an object";
  return String(value);
}

export function integer(min: number, max: number = Number.MAX_SAFE_INTEGER): Check {
  const range = max === Number.MAX_SAFE_INTEGER ? `of ${min} or more` : `between ${min} and ${max}`;
  return (value) =>
    typeof value === "number" && Number.isInteger(value) && value >= min && value <= max
      ? undefined
      : `must be an integer ${range}, got ${show(value)}`;
}

/** A number of seconds. */
export function seconds(bound: "positive" | "zero or more"): Check {
  return (value) =>
    typeof value === "number" && Number.isFinite(value) && (bound === "positive" ? value > 0 : value >= 0)
      ? undefined
      : `must be a number of seconds, ${bound}, got ${show(value)}`;
}

export const boolean: Check = (value) =>
  typeof value === "boolean" ? undefined : `must be true or false, got ${show(value)}`;

export const text: Check = (value) => (typeof value === "string" ? undefined : `must be a string, got ${show(value)}`);

/** A name that is kept in an indexed column. */
export function name(max: number): Check {
  return (value) =>
    typeof value === "string" && value.trim() !== "" && value.length <= max
      ? undefined
      : `must be a string of 1 to ${max} characters, got ${show(value)}`;
}

export function oneOf(values: readonly unknown[]): Check {
  return (value) => {
    if (values.includes(value)) return undefined;
    const words = values.filter((known) => typeof known === "string");
    const meant = typeof value === "string" ? didYouMean(value, words) : undefined;
    const all = values.map(show).join(", ");
    return `must be one of ${all}, got ${show(value)}${meant === undefined ? "" : `; did you mean "${meant}"?`}`;
  };
}

export const date: Check = (value) =>
  value instanceof Date && !Number.isNaN(value.getTime()) ? undefined : `must be a valid Date, got ${show(value)}`;

export const callbacks: Check = (value) =>
  [value].flat().every((entry) => typeof entry === "function")
    ? undefined
    : `must be a function or an array of functions, got ${show(value)}`;

/** For options that are checked elsewhere, with more around them. */
export const anything: Check = () => undefined;

/** Everything that is wrong with an options object; an option that is `undefined` counts as not given. */
export function checkOptions(
  options: unknown,
  checks: Readonly<Record<string, Check>>,
  elsewhere?: { readonly names: readonly string[]; readonly where: string },
): readonly string[] {
  if (options === undefined) return [];
  if (typeof options !== "object" || options === null || Array.isArray(options)) {
    return [`the options must be an object, got ${show(options)}`];
  }
  return Object.entries(options).flatMap(([key, value]) => {
    const check = Object.hasOwn(checks, key) ? checks[key] : undefined;
    if (check === undefined) {
      if (elsewhere?.names.includes(key) === true) return [`unknown option "${key}": it belongs ${elsewhere.where}`];
      const meant = didYouMean(key, Object.keys(checks));
      return [`unknown option "${key}"${meant === undefined ? "" : `; did you mean "${meant}"?`}`];
    }
    const wrong = value === undefined ? undefined : check(value);
    return wrong === undefined ? [] : [`${key}${wrong.startsWith(":") ? "" : " "}${wrong}`];
  });
}
