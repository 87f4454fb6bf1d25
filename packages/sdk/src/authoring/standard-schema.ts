import type { Json } from "../spec/index.ts";

/**
 * A validator of the Standard Schema, as Zod, Valibot, ArkType and others make them. Only the part that is needed here.
 * https://standardschema.dev
 */
export interface StandardSchema<Output = unknown> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    /** Where the library can say itself as JSON Schema, forms and checks before the start use it. */
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Readonly<Record<string, unknown>>;
    };
  };
}

export type StandardResult<Output> =
  { readonly value: Output; readonly issues?: undefined } | { readonly issues: readonly StandardIssue[] };

export interface StandardIssue {
  readonly message: string;
  readonly path?: readonly (PropertyKey | { readonly key: PropertyKey })[] | undefined;
}

/** Validators may be functions as well as objects. */
export function isStandardSchema(value: unknown): value is StandardSchema {
  if ((typeof value !== "object" && typeof value !== "function") || value === null) return false;
  if (!("~standard" in value)) return false;
  const standard: unknown = value["~standard"];
  return typeof standard === "object" && standard !== null && "validate" in standard;
}

/** As JSON Schema, where the library says itself so. */
export function jsonSchemaOf(schema: StandardSchema): Readonly<Record<string, Json>> | undefined {
  try {
    const said = schema["~standard"].jsonSchema?.input({ target: "draft-07" });
    if (said === undefined) return undefined;
    const { $schema: _dialect, ...rest } = JSON.parse(JSON.stringify(said)) as Record<string, Json>; // it is JSON now
    return rest;
  } catch {
    return undefined; // some of what it checks cannot be said so
  }
}

/** The names on the way to what is wrong. */
export const pathOf = ({ path = [] }: StandardIssue): string[] =>
  path.map((step) => String(typeof step === "object" ? step.key : step));
