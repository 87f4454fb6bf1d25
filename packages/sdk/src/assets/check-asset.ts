// What can be wrong with an asset, in words that follow its name. Names and uris are keys in indexed columns.
import { checkOptions, name, show, type Check } from "../reading/checks.ts";
import { encodeJson } from "../values/encode-json.ts";
import { Trigger } from "../triggers/trigger.ts";
import { schemeOf } from "./normalize-uri.ts";

export const MAX_NAME = 1_500;

/** Names that mean something else where events are looked up by name. */
const PROHIBITED = ["self", "context"];

const key: Check = (value) =>
  typeof value === "string" && value.trim() !== "" && value.length <= MAX_NAME && /^[\x20-\x7e]*$/.test(value)
    ? undefined
    : `must be a string of 1 to ${MAX_NAME} printable ASCII characters, got ${show(value)}`;

export const assetName: Check = (value) =>
  key(value) ?? (PROHIBITED.includes(String(value)) ? `must not be ${PROHIBITED.map(show).join(" or ")}` : undefined);

export const assetUri: Check = (value) =>
  key(value) ?? (schemeOf(String(value)) === "airflow" ? `must not have the reserved scheme "airflow"` : undefined);

export const storable: Check = (value) => {
  if (typeof value !== "object" || value === null || Array.isArray(value))
    return `must be an object, got ${show(value)}`;
  try {
    encodeJson(value);
    return undefined;
  } catch (error) {
    return `cannot be stored: ${error instanceof Error ? error.message : String(error)}`;
  }
};

function watchers(value: unknown): string | undefined {
  if (!Array.isArray(value)) return `must be an array of { name, trigger }, got ${show(value)}`;
  const names = new Set<unknown>();
  for (const watcher of value as readonly unknown[]) {
    const [wrong] = checkOptions(watcher ?? null, { name: name(MAX_NAME), trigger });
    if (wrong !== undefined) return `: ${wrong}`;
    const given = watcher as { readonly name?: unknown; readonly trigger?: unknown }; // an object, as was just checked
    if (given.name === undefined || given.trigger === undefined) return "must each have a name and a trigger";
    if (names.has(given.name)) return `must have different names, and ${show(given.name)} is there twice`;
    names.add(given.name);
  }
  return undefined;
}

const trigger: Check = (value) =>
  value instanceof Trigger
    ? value.problem === undefined
      ? undefined
      : `is wrong: ${value.problem}`
    : `must be a trigger, got ${show(value)}`;

export function wrongAsset(options: unknown): readonly string[] {
  const wrong = checkOptions(options ?? null, {
    name: assetName,
    uri: assetUri,
    group: name(MAX_NAME),
    extra: storable,
    watchers,
  });
  const given: { name?: unknown; uri?: unknown } = Object(options);
  const isNamed = given.name !== undefined || given.uri !== undefined;
  const named = isNamed || wrong.length > 0 ? [] : ["give a name, a uri, or both"];
  // The one that is left out is filled with the other, and has to be valid as such.
  const filled =
    given.uri === undefined && wrong.length === 0 && isNamed
      ? assetUri(given.name)
      : given.name === undefined && wrong.length === 0 && isNamed
        ? assetName(given.uri)
        : undefined;
  return [...wrong, ...named, ...(filled === undefined ? [] : [`name ${filled}`])];
}
