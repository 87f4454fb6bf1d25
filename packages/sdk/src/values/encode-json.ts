// Values that leave a task as plain JSON: events, confs, states of waits; codec.ts goes through here, too. Refuses what JSON or Postgres would
// change or drop without a word, and says where in the value it is and what to do instead.
import type { Json } from "../spec/index.ts";

/** The largest value that is stored unless the host says otherwise: 1 MiB of JSON in UTF-8. */
export const DEFAULT_MAX_BYTES = 1024 * 1024;

/** Deeper than any data of use, and far from where V8's and Postgres' JSON parsers run out of stack. */
export const MAX_DEPTH = 500;

/** A value that cannot be stored. `path` says where in it: `$.rows[3].amount`. */
export class ValueNotStorable extends Error {
  override readonly name: string = "ValueNotStorable";
  readonly path: string;

  constructor(path: string, problem: string) {
    super(`${shortened(path)} ${problem}`);
    this.path = path;
  }
}

const MAX_SHOWN_PATH = 200;

/** With its ends, so that the problem is not cut off where a message is. */
const shortened = (path: string): string =>
  path.length <= MAX_SHOWN_PATH ? path : `${path.slice(0, MAX_SHOWN_PATH / 2)}…${path.slice(-MAX_SHOWN_PATH / 2)}`;

/**
 * The value as it will be read back. `undefined` properties are dropped, as JSON does.
 *
 * @throws ValueNotStorable
 */
export function encodeJson(value: unknown, maxBytes: number = DEFAULT_MAX_BYTES): Json {
  check(value, "$", 0, new Set(), maxBytes);
  const encoded = JSON.stringify(value);
  const bytes = Buffer.byteLength(encoded, "utf8");
  if (bytes > maxBytes) {
    throw new ValueNotStorable(
      "$",
      `is ${bytes} bytes of JSON, and the limit is ${maxBytes}: store the data elsewhere and pass on where it is`,
    );
  }
  return JSON.parse(encoded) as Json; // what JSON.parse returns is Json
}

function check(value: unknown, path: string, depth: number, around: Set<object>, maxBytes: number): void {
  // Before anything is made of it: a copy of a huge text may be more than the process has room for.
  if (typeof value === "string" && value.length > maxBytes) {
    throw new ValueNotStorable(
      path,
      `is ${value.length} characters, and the limit of the whole is ${maxBytes} bytes: store the data elsewhere and pass on where it is`,
    );
  }
  const wrong = typeof value === "object" && value !== null ? wrongObject(value) : wrongPrimitive(value);
  if (wrong !== undefined) throw new ValueNotStorable(path, wrong);
  if (typeof value !== "object" || value === null) return;
  if (around.has(value)) throw new ValueNotStorable(path, "contains itself: break the cycle, or return an id instead");
  if (depth === MAX_DEPTH) throw new ValueNotStorable(path, `is nested more than ${MAX_DEPTH} levels deep: flatten it`);
  around.add(value);
  if (Array.isArray(value)) {
    for (let index = 0; index < value.length; index++) {
      const element: unknown = value[index];
      if (element === undefined) {
        throw new ValueNotStorable(
          `${path}[${index}]`,
          "is undefined in an array, where JSON has no place for it: use null",
        );
      }
      check(element, `${path}[${index}]`, depth + 1, around, maxBytes);
    }
  } else {
    for (const [key, property] of Object.entries(value)) {
      const inner = /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? `${path}.${key}` : `${path}[${JSON.stringify(key)}]`;
      const wrongKey = wrongText(key);
      if (wrongKey !== undefined) throw new ValueNotStorable(inner, `has a key that ${wrongKey}`);
      if (property !== undefined) check(property, inner, depth + 1, around, maxBytes);
    }
  }
  around.delete(value);
}

function wrongPrimitive(value: unknown): string | undefined {
  switch (typeof value) {
    case "string":
      return wrongText(value);
    case "number":
      return Number.isFinite(value) ? undefined : `is ${value}, which JSON does not have: use null, or a string`;
    case "bigint":
      return "is a BigInt, which JSON does not have: use String(value), or Number(value) if it is small enough";
    case "function":
      return "is a function, which cannot be stored: return the data that it would compute";
    case "symbol":
      return "is a symbol, which cannot be stored: use a string";
    default:
      return value === undefined ? "is undefined: use null" : undefined;
  }
}

function wrongText(value: string): string | undefined {
  if (value.includes("\u0000"))
    return "contains the character U+0000, which Postgres cannot store: remove it, or encode it as base64";
  if (/\p{Surrogate}/u.test(value))
    return "contains half a surrogate pair, which is not valid Unicode: use value.toWellFormed() or base64";
  return undefined;
}

function wrongObject(value: object): string | undefined {
  return (
    wrongKind(value) ??
    // After its kind: a promise has symbols of Node's own.
    (Object.getOwnPropertySymbols(value).length > 0
      ? "has a symbol as a key, which JSON would drop: use a string"
      : undefined)
  );
}

function wrongKind(value: object): string | undefined {
  if (Array.isArray(value)) return undefined;
  const prototype: unknown = Object.getPrototypeOf(value);
  // A plain object of another realm (vm context, test runner) has another Object.prototype, itself without one.
  if (prototype === null || Object.getPrototypeOf(prototype) === null) return undefined;
  if (value instanceof Date) return "is a Date, which would come back as a string: use value.toISOString()";
  if (value instanceof Map) return "is a Map, which would come back empty: use Object.fromEntries(value)";
  if (value instanceof Set) return "is a Set, which would come back empty: use [...value]";
  if (value instanceof Error) return "is an Error, which would come back empty: use value.message, or throw it";
  if (ArrayBuffer.isView(value) || value instanceof ArrayBuffer)
    return 'is binary data: use Buffer.from(value).toString("base64")';
  if (value instanceof Promise) return "is a Promise: await it";
  const { name } = value.constructor;
  return `is an instance of ${name === "" ? "a class" : name}, which would come back as a plain object: use { ...value }`;
}
