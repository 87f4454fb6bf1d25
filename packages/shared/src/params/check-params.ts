// Values that people give under names, checked against the JSON Schema of each name: the params of a DAG, and the form of
// a question. Every violation is told, not only the first.
import type { Json } from "@millrace/sdk/spec";
import { Ajv } from "ajv";
import { default as formats } from "ajv-formats";

export interface CheckedParams {
  /** What was given, with the defaults of what was not. */
  readonly values: Readonly<Record<string, Json>>;
  /** In words, one a violation, naming the param. */
  readonly violations: readonly string[];
}

const ajv = new Ajv({ allErrors: true, strict: false, logger: false });
formats.default(ajv);

/**
 * @param schemas by name: a JSON Schema, whose `default` is taken when nothing is given; without one the value is required
 * @param given values by name; a name without a schema is a violation
 */
export function checkParams(
  schemas: Readonly<Record<string, Json>>,
  given: Readonly<Record<string, Json>>,
): CheckedParams {
  const values: Record<string, Json> = {};
  const violations = Object.keys(given)
    .filter((name) => !Object.hasOwn(schemas, name))
    .map((name) => `${name}: there is no such param; there are: ${Object.keys(schemas).join(", ") || "none"}`);
  for (const [name, schema] of Object.entries(schemas)) {
    const value = Object.hasOwn(given, name) ? given[name] : defaultOf(schema);
    if (value === undefined) violations.push(`${name}: is required`);
    else {
      values[name] = value;
      violations.push(...violationsOf(name, schema, value));
    }
  }
  return { values, violations };
}

function defaultOf(schema: Json): Json | undefined {
  return isObject(schema) && Object.hasOwn(schema, "default") ? schema["default"] : undefined;
}

function violationsOf(name: string, schema: Json, value: Json): string[] {
  if (!isObject(schema)) return [];
  try {
    const validate = ajv.compile(schema);
    if (validate(value) === true) return [];
    return (validate.errors ?? []).map((e) => `${name}${e.instancePath}: ${e.message ?? e.keyword}`);
  } catch (error) {
    return [`${name}: its schema cannot be used: ${error instanceof Error ? error.message : String(error)}`];
  } finally {
    // Schemas come with runs, and the compiler keeps what it compiled.
    ajv.removeSchema(schema);
  }
}

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
