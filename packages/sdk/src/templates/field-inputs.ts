// References to values of other tasks within the options of an operator. When the DAG is read they become inputs of its
// task, under names that say where they stand; when the options are rendered their values are put back there.
import { isValueRef } from "../authoring/refs.ts";
import type { Json } from "../spec/index.ts";
import { MAX_DEPTH } from "./parse-template.ts";
import type { TemplateField } from "./render-fields.ts";

/** No argument of a handler has a name like this. */
const MARK = "@";

/** @param path of the option, as errors write it: `env.DAY`, `params[0]` */
export const fieldInputName = (path: string): string => `${MARK}${path}`;

/** The references within options, by the names of the inputs that they become. */
export function fieldReferences(
  fields: Readonly<Record<string, TemplateField>> = {},
): Readonly<Record<string, unknown>> {
  const found: Record<string, unknown> = {};
  const look = (value: unknown, path: string, depth: number): void => {
    if (isValueRef(value)) found[fieldInputName(path)] = value;
    else if (depth <= MAX_DEPTH) for (const [at, item] of partsOf(value, path)) look(item, at, depth + 1);
  };
  for (const [name, { value }] of Object.entries(fields)) look(value, name, 0);
  return found;
}

/** The items of an array or a plain object, each with its path. */
export function partsOf(value: unknown, path: string): readonly (readonly [path: string, item: unknown])[] {
  if (Array.isArray(value)) return value.map((item: unknown, i) => [`${path}[${i}]`, item] as const);
  if (!isPlain(value)) return [];
  return Object.entries(value).map(([key, item]) => [`${path}.${key}`, item] as const);
}

/** An object of the file and not, say, a Date. */
export function isPlain(value: unknown): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return false;
  const prototype: unknown = Object.getPrototypeOf(value);
  return prototype === null || prototype === Object.prototype;
}

/** The inputs that the factory of the task was given. */
export function ownInputs(inputs: Readonly<Record<string, Json>>): Readonly<Record<string, Json>> {
  if (!Object.keys(inputs).some((name) => name.startsWith(MARK))) return inputs;
  return Object.fromEntries(Object.entries(inputs).filter(([name]) => !name.startsWith(MARK)));
}

/** An input as people know it. */
export const inputTitle = (name: string): string =>
  name.startsWith(MARK) ? `option "${name.slice(MARK.length)}"` : `input "${name}"`;

/** Options with a template for each reference in them, to be checked when the DAG is read. */
export function withoutReferences(value: unknown, depth = 0): unknown {
  if (isValueRef(value)) return "{{ a value of another task }}";
  if (depth > MAX_DEPTH) return null;
  if (Array.isArray(value)) return value.map((item) => withoutReferences(item, depth + 1));
  if (!isPlain(value)) return value;
  return Object.fromEntries(Object.entries(value).map(([key, item]) => [key, withoutReferences(item, depth + 1)]));
}
