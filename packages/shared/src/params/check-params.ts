// Values that people give under names, checked against the JSON Schema of each name: the params of a DAG, and the form of
// a question. Every violation is told, not only the first.
import type { DagSpec, Json } from "@millrace/sdk/spec";
import { AppError } from "../errors/index.ts";
import { Ajv, type ErrorObject, type ValidateFunction } from "ajv";
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

/**
 * What a run is given, with the defaults of what it is not. Conf may hold more than the params, as in Airflow.
 * @param conf of the run
 */
export function checkRunParams(
  { params, paramSpecs = {} }: Pick<DagSpec, "params" | "paramSpecs">,
  conf: Readonly<Record<string, Json>>,
): CheckedParams {
  const values: Readonly<Record<string, Json>> = { ...params, ...conf };
  const violations = Object.entries(paramSpecs).flatMap(([name, { schema, required }]) => {
    const value = Object.hasOwn(values, name) ? values[name] : undefined;
    if (value === undefined) return required === true ? [`${name}: is required`] : [];
    return schema === undefined ? [] : violationsOf(name, schema, value);
  });
  return { values, violations };
}

/** @throws AppError RUN_PARAMS_INVALID naming every violation. */
export function checkRunFits(
  spec: Pick<DagSpec, "dagId" | "params" | "paramSpecs">,
  conf: Readonly<Record<string, unknown>>,
): void {
  const { violations } = checkRunParams(spec, conf as Readonly<Record<string, Json>>); // as it will be stored
  if (violations.length === 0) return;
  const list = violations.map((violation) => `  - ${violation}`).join("\n");
  throw new AppError("RUN_PARAMS_INVALID", { dagId: spec.dagId, violations: list });
}

/** What is wrong with the schemas of a DAG's params, and with its defaults by them. */
export function checkDefaults({ params, paramSpecs = {} }: Pick<DagSpec, "params" | "paramSpecs">): readonly string[] {
  return Object.entries(paramSpecs).flatMap(([name, { schema }]) => {
    if (schema === undefined) return [];
    const value = params[name];
    if (value !== undefined) return violationsOf(name, schema, value);
    const validate = compiled(schema);
    return typeof validate === "string" ? [`${name}: ${validate}`] : [];
  });
}

function defaultOf(schema: Json): Json | undefined {
  return isObject(schema) && Object.hasOwn(schema, "default") ? schema["default"] : undefined;
}

function violationsOf(name: string, schema: Json, value: Json): string[] {
  if (!isObject(schema)) return [];
  const validate = compiled(schema);
  if (typeof validate === "string") return [`${name}: ${validate}`];
  if (validate(value) === true) return [];
  const errors = validate.errors ?? [];
  return errors
    .filter((error) => error.keyword !== "pattern" || !errors.some((other) => isFormatOf(other, error)))
    .map((error) => `${name}${error.instancePath}: ${inWords(error)}`);
}

/** Validators that make schemas give a format its pattern as well, which is the same told in a way that nobody reads. */
const isFormatOf = ({ keyword, instancePath }: ErrorObject, error: ErrorObject): boolean =>
  keyword === "format" && instancePath === error.instancePath;

const MAX_WORDS = 200;

/** The compiler's own words, save where they keep back what would have been right, or what is wrong. */
function inWords({ keyword, message = keyword, params }: ErrorObject): string {
  switch (keyword) {
    case "enum":
      return shortened(
        `must be one of ${(params["allowedValues"] as Json[]).map((one) => JSON.stringify(one)).join(", ")}`,
      );
    case "const":
      return shortened(`must be ${JSON.stringify(params["allowedValue"])}`);
    case "additionalProperties":
      return `must not have the property ${JSON.stringify(params["additionalProperty"])}`;
    case "unevaluatedProperties":
      return `must not have the property ${JSON.stringify(params["unevaluatedProperty"])}`;
    default:
      return shortened(message);
  }
}

const shortened = (words: string): string => (words.length > MAX_WORDS ? `${words.slice(0, MAX_WORDS)}…` : words);

/** By schema, for as long as somebody has that: compiling takes a thousand times as long as checking. */
const known = new WeakMap<object, ValidateFunction | string>();

function compiled(schema: { readonly [key: string]: Json }): ValidateFunction | string {
  let validate = known.get(schema);
  if (validate === undefined) {
    try {
      validate = ajv.compile(schema);
    } catch (error) {
      validate = `its schema cannot be used: ${error instanceof Error ? error.message : String(error)}`;
    } finally {
      // The compiler keeps what it compiled for ever.
      ajv.removeSchema(schema);
    }
    known.set(schema, validate);
  }
  return validate;
}

const isObject = (value: Json): value is { readonly [key: string]: Json } =>
  typeof value === "object" && value !== null && !Array.isArray(value);
