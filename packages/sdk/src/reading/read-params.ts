import { isStandardSchema, jsonSchemaOf, pathOf, type StandardSchema } from "../authoring/standard-schema.ts";
import type { Json, ParamSpec } from "../spec/index.ts";
import { encodeJson } from "../values/encode-json.ts";
import { show } from "./checks.ts";
import { present } from "./present.ts";

/** The defaults of a DAG's params, the names of those that have none and need one, and what is known of each. */
export interface ReadParams {
  readonly defaults: Readonly<Record<string, Json>>;
  readonly required: readonly string[];
  readonly specs: Readonly<Record<string, ParamSpec>>;
}

interface Reading {
  readonly defaults: Map<string, Json>;
  readonly required: Set<string>;
  readonly specs: Map<string, ParamSpec>;
  readonly report: (message: string) => void;
}

/**
 * An object with `default` or `schema` describes a param, and so does a validator of the Standard Schema; everything
 * else is a default itself. A validator may also stand for all params together.
 */
export function readParams(params: unknown, report: (message: string) => void): ReadParams {
  const reading: Reading = { defaults: new Map(), required: new Set(), specs: new Map(), report };
  if (isStandardSchema(params)) readWhole(params, reading);
  else if (params !== undefined && (typeof params !== "object" || params === null || Array.isArray(params))) {
    report(`params must be an object, got ${show(params)}`);
  } else for (const [name, param] of Object.entries(params ?? {})) readOne(name, param, reading);
  for (const name of reading.required) reading.specs.set(name, { ...reading.specs.get(name), required: true });
  return {
    defaults: Object.fromEntries(reading.defaults),
    required: [...reading.required],
    specs: Object.fromEntries(reading.specs),
  };
}

function readOne(name: string, param: unknown, reading: Reading): void {
  if (isStandardSchema(param)) {
    const result = validateNow(`param "${name}"`, param, undefined, reading.report);
    if (result === undefined) return;
    if (result.issues !== undefined) reading.required.add(name);
    else setDefault(name, result.value, reading);
    const schema = jsonSchemaOf(param);
    if (schema !== undefined) reading.specs.set(name, { schema });
    return;
  }
  if (!isDescribed(param)) return setDefault(name, param, reading);
  const strange = Object.keys(param).filter((key) => !PARTS.has(key));
  if (strange.length > 0) {
    reading.report(
      `param "${name}" has no "${strange[0]}": what its value must be goes into its schema, as in { default: …, schema: { type: … } }`,
    );
  }
  if (param.default === undefined) reading.required.add(name);
  else setDefault(name, param.default, reading);
  const { description, schema } = param;
  if (description !== undefined && typeof description !== "string") {
    reading.report(`param "${name}": its description must be a string, got ${show(description)}`);
  }
  if (schema !== undefined && (typeof schema !== "object" || schema === null || Array.isArray(schema))) {
    reading.report(`param "${name}": its schema must be a JSON Schema, got ${show(schema)}`);
    return;
  }
  try {
    const about = typeof description === "string" ? description : undefined;
    const encoded = schema === undefined ? undefined : encodeJson(schema);
    reading.specs.set(name, present({ schema: encoded as ParamSpec["schema"], description: about })); // it is an object
  } catch (error) {
    reading.report(`param "${name}": its schema: ${error instanceof Error ? error.message : String(error)}`);
  }
}

/** Its answer to nothing says the defaults, or what is missing. */
function readWhole(params: StandardSchema, reading: Reading): void {
  const properties = jsonSchemaOf(params)?.["properties"];
  if (typeof properties === "object" && properties !== null && !Array.isArray(properties)) {
    for (const [name, schema] of Object.entries(properties)) {
      if (typeof schema !== "object" || schema === null || Array.isArray(schema)) continue;
      const fields = schema as Readonly<Record<string, Json>>;
      reading.specs.set(name, { schema: fields });
      if (fields["default"] !== undefined) reading.defaults.set(name, fields["default"]);
    }
  }
  const result = validateNow("params", params, {}, reading.report);
  if (result === undefined) return;
  if (result.issues === undefined) {
    if (typeof result.value !== "object" || result.value === null) {
      reading.report(`params must be a validator of an object, and it makes ${show(result.value)}`);
      return;
    }
    for (const [name, value] of Object.entries(result.value)) setDefault(name, value, reading);
    return;
  }
  for (const issue of result.issues) {
    const [name] = pathOf(issue);
    if (name === undefined) reading.report(`params: ${issue.message}`);
    else reading.required.add(name);
  }
}

function setDefault(name: string, value: unknown, { defaults, report }: Reading): void {
  if (value === undefined) return;
  try {
    defaults.set(name, encodeJson(value));
  } catch (error) {
    report(`param "${name}": ${error instanceof Error ? error.message : String(error)}`);
  }
}

function validateNow(what: string, schema: StandardSchema, value: unknown, report: (message: string) => void) {
  try {
    const result = schema["~standard"].validate(value);
    if (!(result instanceof Promise)) return result;
    result.catch(() => undefined);
    report(`${what}: its validator answers later, and the defaults are needed at once: use one that is not async`);
  } catch (error) {
    report(`${what}: its validator threw: ${error instanceof Error ? error.message : String(error)}`);
  }
  return undefined;
}

const PARTS: ReadonlySet<string> = new Set(["default", "schema", "description"]);

const isDescribed = (
  param: unknown,
): param is { readonly default?: unknown; readonly schema?: unknown; readonly description?: unknown } =>
  typeof param === "object" && param !== null && !Array.isArray(param) && ("default" in param || "schema" in param);
