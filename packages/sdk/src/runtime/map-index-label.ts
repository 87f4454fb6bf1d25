// What `mapIndexTemplate` makes of one instance of a mapped task. The only place that reads such a template.
import type { Json } from "../spec/index.ts";

/** As the column is wide. */
const MAX_LABEL = 250;

/** What a template can name, outermost first: `{{ file }}`, `{{ inputs.file }}`, `{{ result.rows }}`, `{{ map_index }}`. */
export interface LabelValues {
  readonly inputs: Readonly<Record<string, Json>>;
  readonly mapIndex: number;
  /** What the instance returned; absent before its end. */
  readonly result?: Json | undefined;
  readonly params: Readonly<Record<string, Json>>;
}

/** The label; undefined when a name in the template leads nowhere (yet), or nothing is left of it. */
export function renderMapIndex(
  template: string,
  { inputs, mapIndex, result, params }: LabelValues,
): string | undefined {
  const values: Record<string, unknown> = { ...inputs, inputs, params, result, map_index: mapIndex, mapIndex };
  let isComplete = true;
  const label = template.replaceAll(/\{\{\s*([\p{L}\p{N}_$.]+)\s*\}\}/gu, (_all, path: string) => {
    const value = path.split(".").reduce<unknown>(fieldOf, values);
    if (value === undefined) isComplete = false;
    return typeof value === "string" ? value : JSON.stringify(value);
  });
  return isComplete && label !== "" ? Array.from(label).slice(0, MAX_LABEL).join("") : undefined;
}

function fieldOf(value: unknown, name: string): unknown {
  if (typeof value !== "object" || value === null || !Object.hasOwn(value, name)) return undefined;
  return (value as Readonly<Record<string, unknown>>)[name]; // just seen to have it
}
