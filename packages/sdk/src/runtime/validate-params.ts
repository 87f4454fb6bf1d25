// The params of a run, gone through the DAG file's own validators just before a handler starts: only here do they exist.
// What JSON Schema can say was checked before, when the run was asked for.
import { isStandardSchema, pathOf, type StandardSchema } from "../authoring/standard-schema.ts";
import type { Json } from "../spec/index.ts";

export type ValidatedParams =
  | { readonly params: Readonly<Record<string, Json>> }
  /** Each names its param. */
  | { readonly violations: readonly string[] };

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
