// The params of a run, gone through the DAG file's own validators just before a handler starts: only here do they exist.
// What JSON Schema can say was checked before, when the run was asked for.
import { isStandardSchema, pathOf, type StandardSchema } from "../authoring/standard-schema.ts";
import type { DagOptions } from "../authoring/dag-options.ts";
import type { TaskNode } from "../authoring/definition.ts";
import type { Json } from "../spec/index.ts";
import type { RunRequest, TaskError } from "./protocol.ts";

export type ValidatedParams =
  | { readonly params: Readonly<Record<string, Json>> }
  /** Each names its param. */
  | { readonly violations: readonly string[] };

/** The params of a run as its DAG's validators give them, or why they do not fit. */
export async function paramsOf(
  task: TaskNode,
  request: RunRequest,
): Promise<{ readonly params: Readonly<Record<string, Json>> } | { readonly error: TaskError }> {
  const declared = (task.dag.options as DagOptions | undefined)?.params; // checked when the DAG was read
  const valid = await validateParams(declared, request.params).catch((error: unknown) => ({
    violations: [error instanceof Error ? error.message : String(error)],
  }));
  if ("params" in valid) return valid;
  return {
    error: { name: "ParamsInvalid", message: `the params of the run do not fit: ${valid.violations.join("; ")}` },
  };
}

/** What the validators make of the values; every violation, not only the first. */
export async function validateParams(
  declared: unknown,
  given: Readonly<Record<string, Json>>,
): Promise<ValidatedParams> {
  if (isStandardSchema(declared)) {
    const result = await validate(declared, given, []);
    if ("violations" in result) return result;
    return { params: { ...given, ...(result.value as Readonly<Record<string, Json>>) } }; // an object, as was read
  }
  if (typeof declared !== "object" || declared === null) return { params: given };
  const params: Record<string, Json> = { ...given };
  const violations: string[] = [];
  for (const [name, param] of Object.entries(declared)) {
    if (!isStandardSchema(param)) continue;
    const result = await validate(param, given[name], [name]);
    if ("violations" in result) violations.push(...result.violations);
    else if (result.value !== undefined) params[name] = result.value as Json; // what its author takes it for
  }
  return violations.length > 0 ? { violations } : { params };
}

async function validate(
  schema: StandardSchema,
  value: unknown,
  at: readonly string[],
): Promise<{ readonly value: unknown } | { readonly violations: readonly string[] }> {
  const result = await schema["~standard"].validate(value);
  if (result.issues === undefined) return { value: result.value };
  return {
    violations: result.issues.map((issue) => {
      const place = [...at, ...pathOf(issue)].join(".");
      return place === "" ? issue.message : `${place}: ${issue.message}`;
    }),
  };
}
