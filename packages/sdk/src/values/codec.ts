// How a value that JSON cannot say is kept as JSON, so that others can read it as well: an object with one key more than
// data has, which names what it is.
//
//   Date        {"$millrace": "date", "value": "2026-01-01T00:00:00.000Z"}
//   BigInt      {"$millrace": "bigint", "value": "12345678901234567890"}
//   Map         {"$millrace": "map", "value": [[key, value], …]}
//   Set         {"$millrace": "set", "value": [value, …]}
//   bytes       {"$millrace": "bytes", "value": "base64"}
//   undefined   {"$millrace": "undefined"}, within a list alone: as a property it is left out
//   an object that has the key "$millrace" itself: {"$millrace": "object", "value": [[key, value], …]}
//
// Everything else is the JSON that it is. Used for what tasks return, for XComs and for literal inputs.
import type { Json } from "../spec/index.ts";
import { encodeJson, MAX_DEPTH, ValueNotStorable } from "./encode-json.ts";

export const TAG = "$millrace";

/**
 * The value as JSON that `decodeValue` reads back.
 *
 * @throws ValueNotStorable naming the place, the reason and what to do
 */
export function encodeValue(value: unknown, maxBytes?: number): Json {
  return encodeJson(tagged(value, "$", new Set()), maxBytes);
}

/** What was encoded. Bytes come back as a Buffer, which is a Uint8Array. What has no tag is given back as it is. */
export function decodeValue(value: Json): unknown {
  if (typeof value !== "object" || value === null) return value;
  if (isList(value)) return mapList(value, decodeValue);
  const tag = tagOf(value);
  if (tag === undefined) return mapObject(value, decodeValue);
  const inner = value["value"] ?? null;
  switch (tag) {
    case "date":
      return new Date(String(inner));
    case "bigint":
      return BigInt(String(inner));
    case "bytes":
      return Buffer.from(String(inner), "base64");
    case "map":
      return new Map(pairs(inner));
    case "set":
      return new Set(isList(inner) ? inner.map(decodeValue) : []);
    case "object":
      return objectOf(pairs(inner).map(([key, property]) => [String(key), property]));
    case "undefined":
      return undefined;
    default:
      throw new TypeError(`a value is kept as "${tag}", which this version of the SDK does not know`);
  }
}

/** The inputs of a handler, decoded. They are named by it: none of their names is a tag. */
export const decodeInputs = (inputs: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> =>
  mapObject(inputs, decodeValue) as Readonly<Record<string, Json>>; // the handler's own types say what they are

/** The fields of an encoded object, themselves encoded; undefined for everything that is none. */
export function fieldsOf(value: Json | undefined): Readonly<Record<string, Json>> | undefined {
  if (typeof value !== "object" || value === null || isList(value)) return undefined;
  const tag = tagOf(value);
  const object = value as Readonly<Record<string, Json>>; // no list, as just seen
  if (tag === undefined) return object;
  const properties = object["value"];
  if (tag !== "object" || !isList(properties)) return undefined;
  return Object.fromEntries(properties.flatMap((pair) => (isList(pair) ? [[String(pair[0]), pair[1] ?? null]] : [])));
}

/** A field of an encoded value, itself encoded. What is tagged has no fields, save an object that had to be. */
export function fieldAt(value: Json | undefined, path: readonly string[]): Json | undefined {
  let at = value;
  for (const step of path) {
    if (typeof at !== "object" || at === null) return undefined;
    const tag = isList(at) ? undefined : tagOf(at);
    if (tag === "object") {
      const properties = (at as Readonly<Record<string, Json>>)["value"];
      const found = isList(properties) ? properties.find((pair) => isList(pair) && pair[0] === step) : undefined;
      at = isList(found) ? found[1] : undefined;
    } else if (tag !== undefined || !Object.hasOwn(at, step)) return undefined;
    else at = (at as Readonly<Record<string, Json>>)[step]; // just seen to have it
  }
  return at;
}

const isList = (value: Json | undefined): value is readonly Json[] => Array.isArray(value);

function tagOf(value: Json): string | undefined {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, TAG)) return undefined;
  const tag = (value as Readonly<Record<string, Json>>)[TAG];
  return typeof tag === "string" ? tag : undefined;
}

function pairs(value: Json): [unknown, unknown][] {
  const list = isList(value) ? value : [];
  return list.map((pair) =>
    isList(pair) ? [decodeValue(pair[0] ?? null), decodeValue(pair[1] ?? null)] : [null, null],
  );
}

/** Copies only what has something in it that JSON cannot say; checking the rest is left to `encodeJson`. */
function tagged(value: unknown, path: string, around: Set<object>): unknown {
  if (typeof value === "bigint") return { [TAG]: "bigint", value: String(value) };
  if (typeof value !== "object" || value === null) return value;
  if (around.has(value)) throw new ValueNotStorable(path, "contains itself: break the cycle, or return an id instead");
  if (around.size >= MAX_DEPTH) {
    throw new ValueNotStorable(path, `is nested more than ${MAX_DEPTH} levels deep: flatten it`);
  }
  around.add(value);
  try {
    return taggedObject(value, path, around);
  } finally {
    around.delete(value);
  }
}

function taggedObject(value: object, path: string, around: Set<object>): unknown {
  if (value instanceof Date) {
    if (Number.isNaN(value.getTime())) throw new ValueNotStorable(path, "is an invalid Date: use null");
    return { [TAG]: "date", value: value.toISOString() };
  }
  if (value instanceof Map) {
    const entries = Array.from(value as ReadonlyMap<unknown, unknown>, ([key, inner], index) => [
      inList(key, `${path}.keys[${index}]`, around),
      inList(
        inner,
        typeof key === "string" ? `${path}.get(${JSON.stringify(key)})` : `${path}.values[${index}]`,
        around,
      ),
    ]);
    return { [TAG]: "map", value: entries };
  }
  if (value instanceof Set) {
    const members = Array.from(value as ReadonlySet<unknown>, (one, index) => inList(one, `${path}[${index}]`, around));
    return { [TAG]: "set", value: members };
  }
  // Other views of bytes would come back as another kind, and are refused.
  if (value instanceof Uint8Array) return bytes(value);
  if (Array.isArray(value)) {
    // By index, so that holes are seen.
    const list = value as readonly unknown[];
    return mapList(list, (inner, index) => inList(inner, `${path}[${index}]`, around));
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  // Anything but a plain object is refused as it is.
  if (prototype !== null && Object.getPrototypeOf(prototype) !== null) return value;
  if (Object.getOwnPropertySymbols(value).length > 0) return value;
  const object = value as Readonly<Record<string, unknown>>;
  const properties = mapObject(object, (inner, key) => tagged(inner, `${path}${placeOf(key)}`, around));
  if (!Object.hasOwn(value, TAG)) return properties;
  return { [TAG]: "object", value: Object.entries(properties).filter(([, inner]) => inner !== undefined) };
}

const inList = (value: unknown, path: string, around: Set<object>): unknown =>
  value === undefined ? { [TAG]: "undefined" } : tagged(value, path, around);

const bytes = (view: Uint8Array) => ({
  [TAG]: "bytes",
  value: Buffer.from(view.buffer, view.byteOffset, view.byteLength).toString("base64"),
});

const placeOf = (key: string): string =>
  /^[\p{L}_$][\p{L}\p{N}_$]*$/u.test(key) ? `.${key}` : `[${JSON.stringify(key)}]`;

/** The same list where nothing of it changes. */
function mapList<T>(list: readonly T[], change: (value: T, index: number) => unknown): readonly unknown[] {
  let changed: unknown[] | undefined;
  for (let index = 0; index < list.length; index++) {
    const before = list[index] as T; // a hole is as undefined
    const after = change(before, index);
    if (changed === undefined && after !== before) changed = [...list];
    if (changed !== undefined) changed[index] = after;
  }
  return changed ?? list;
}

/** The same object where nothing of it changes. A property named __proto__ stays one. */
function mapObject<T>(
  object: Readonly<Record<string, T>>,
  change: (value: T, key: string) => unknown,
): Readonly<Record<string, unknown>> {
  let isChanged = false;
  const entries = Object.entries(object).map(([key, before]): [string, unknown] => {
    const after = change(before, key);
    isChanged ||= after !== before;
    return [key, after];
  });
  return isChanged ? objectOf(entries) : object;
}

// Object.fromEntries defines properties; an assignment would set the prototype.
const objectOf = (entries: readonly (readonly [string, unknown])[]): Readonly<Record<string, unknown>> =>
  Object.fromEntries(entries);
