// What a template works with: data and a closed set of things, never an object of JavaScript. A member is looked up by
// name in what is written down here, so that no template can reach a prototype, a constructor or the process.
import type { Json } from "../spec/index.ts";
import type { Budget } from "./budget.ts";
import { TemplateError } from "./template-error.ts";

export type Value =
  null | boolean | number | string | readonly Value[] | ReadonlyMap<string, Value> | Thing | Callable | Undefined;

/** A name or a member that is not there: known by where it was asked for, and an error as soon as it is used. */
export class Undefined {
  readonly what: string;
  readonly why: string;

  constructor(what: string, why = "") {
    this.what = what;
    this.why = why;
  }

  fail(): never {
    throw new TemplateError(`"${this.what}" is not defined${this.why === "" ? "" : `: ${this.why}`}`);
  }
}

/** Keyword arguments by name. */
export type Keywords = ReadonlyMap<string, Value>;

/** What can be called. */
export class Callable {
  readonly title: string;
  readonly call: (args: readonly Value[], keywords: Keywords, budget: Budget) => Value;

  constructor(title: string, call: Callable["call"]) {
    this.title = title;
    this.call = call;
  }

  /** `undefined` when there is no such member. */
  member(_name: string): Value | undefined {
    return undefined;
  }
}

/** Something with members of its own: a date, `var`, `ti`. */
export abstract class Thing {
  /** `undefined` when there is no such member. */
  abstract member(name: string, budget: Budget): Value | undefined;
  /** As `{{ it }}` writes it. */
  abstract text(): string;
  /** As JSON has it. */
  json(): Json {
    return this.text();
  }
  /** Less than, equal to, or greater than 0; `undefined` when the two cannot be compared. */
  compare(_other: Value): number | undefined {
    return undefined;
  }
}

/** Members by name and nothing else. */
export class Names extends Thing {
  readonly #title: string;
  readonly #members: (name: string) => Value | undefined;

  constructor(title: string, members: Readonly<Record<string, Value>> | ((name: string) => Value | undefined)) {
    super();
    this.#title = title;
    this.#members =
      typeof members === "function" ? members : (name) => (Object.hasOwn(members, name) ? members[name] : undefined);
  }

  override member(name: string): Value | undefined {
    return this.#members(name);
  }

  override text(): string {
    return `<${this.#title}>`;
  }
}

/** Data of a DAG as a template sees it. */
export function fromJson(json: Json | undefined): Value {
  if (json === undefined) return null;
  if (typeof json !== "object" || json === null) return json;
  if (Array.isArray(json)) return json.map((item: Json) => fromJson(item));
  return new Map(Object.entries(json).map(([key, item]) => [key, fromJson(item)]));
}

export function parseJson(text: string, title = "it"): Value {
  try {
    return fromJson(JSON.parse(text) as Parameters<typeof fromJson>[0]); // what JSON.parse gives
  } catch {
    throw new TemplateError(`${title} is no JSON`);
  }
}

/** The way back, for `renderTemplateAsNativeObj` and `tojson`. */
export function toJson(value: Value, budget: Budget): Json {
  budget.spend();
  if (value instanceof Undefined) return value.fail();
  if (value instanceof Callable) throw new TemplateError(`the function ${value.title} is no data: call it`);
  if (value instanceof Thing) return value.json();
  if (isList(value)) return value.map((item) => toJson(item, budget));
  if (isMap(value)) {
    const entries = [...value].map(([key, item]): [string, Json] => [key, toJson(item, budget)]);
    return Object.fromEntries(entries);
  }
  return value;
}

export const isList = (value: Value): value is readonly Value[] => Array.isArray(value);
export const isMap = (value: Value): value is ReadonlyMap<string, Value> => value instanceof Map;

/** Code points, which is what Python counts. */
export const lettersOf = (text: string): readonly string[] => Array.from(text);

/** Python's `str()`. */
export function textOf(value: Value, budget: Budget): string {
  return typeof value === "string" ? value : budget.text(reprOf(value, budget));
}

/** Python's `repr()`. */
function reprOf(value: Value, budget: Budget): string {
  budget.spend();
  if (value instanceof Undefined) return value.fail();
  if (value === null) return "None";
  if (typeof value === "boolean") return value ? "True" : "False";
  if (typeof value === "number") return numberText(value);
  if (typeof value === "string") return quoted(value);
  if (value instanceof Callable) throw new TemplateError(`the function ${value.title} is no text: call it`);
  if (value instanceof Thing) return value.text();
  if (isList(value)) return budget.text(`[${value.map((item) => reprOf(item, budget)).join(", ")}]`);
  const entries = isMap(value) ? [...value] : [];
  return budget.text(`{${entries.map(([key, item]) => `${quoted(key)}: ${reprOf(item, budget)}`).join(", ")}}`);
}

function numberText(value: number): string {
  if (Number.isNaN(value)) return "nan";
  if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
  return String(value);
}

function quoted(text: string): string {
  const escaped = text.replaceAll("\\", "\\\\").replaceAll("\n", "\\n").replaceAll("\r", "\\r").replaceAll("\t", "\\t");
  return escaped.includes("'") && !escaped.includes('"') ? `"${escaped}"` : `'${escaped.replaceAll("'", "\\'")}'`;
}

/** Python's truth, strict about what is not there. */
export function truthOf(value: Value): boolean {
  if (value instanceof Undefined) return value.fail();
  if (isList(value)) return value.length > 0;
  if (isMap(value)) return value.size > 0;
  return value instanceof Thing || value instanceof Callable ? true : Boolean(value);
}

export function isEqual(a: Value, b: Value, budget: Budget): boolean {
  budget.spend();
  if (a instanceof Undefined) return a.fail();
  if (b instanceof Undefined) return b.fail();
  if (isList(a) && isList(b)) return a.length === b.length && a.every((item, i) => isEqual(item, b[i] ?? null, budget));
  if (isMap(a) && isMap(b)) {
    return a.size === b.size && [...a].every(([key, item]) => b.has(key) && isEqual(item, b.get(key) ?? null, budget));
  }
  if (a instanceof Thing) return a === b || a.compare(b) === 0;
  return asNumber(a) === asNumber(b);
}

/** @throws TemplateError when the two have no order */
export function compareValues(a: Value, b: Value, budget: Budget): number {
  budget.spend();
  if (a instanceof Undefined) return a.fail();
  if (b instanceof Undefined) return b.fail();
  const [left, right] = [asNumber(a), asNumber(b)];
  if (typeof left === "number" && typeof right === "number") return left - right;
  if (typeof left === "string" && typeof right === "string") return left < right ? -1 : left > right ? 1 : 0;
  if (isList(a) && isList(b)) {
    for (const [i, item] of a.entries()) {
      const other = b[i];
      if (other === undefined) return 1;
      const order = compareValues(item, other, budget);
      if (order !== 0) return order;
    }
    return a.length - b.length;
  }
  const order = a instanceof Thing ? a.compare(b) : undefined;
  if (order === undefined) throw new TemplateError(`${kindOf(a)} and ${kindOf(b)} cannot be compared`);
  return order;
}

/** Python's booleans are numbers. */
const asNumber = (value: Value): Value => (typeof value === "boolean" ? Number(value) : value);

export function kindOf(value: Value): string {
  if (value === null) return "None";
  if (value instanceof Undefined) return `the missing "${value.what}"`;
  if (typeof value === "string") return "a text";
  if (typeof value === "number") return "a number";
  if (typeof value === "boolean") return "True or False";
  if (value instanceof Callable) return `the function ${value.title}`;
  if (value instanceof Thing) return value.text();
  return isList(value) ? "a list" : "a dict";
}
