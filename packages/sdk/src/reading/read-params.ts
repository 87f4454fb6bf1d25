import type { Json } from "../spec/index.ts";
import { encodeJson } from "../values/encode-json.ts";
import { show } from "./checks.ts";

/** The defaults of a DAG's params, and the names of those that have none. */
export interface ReadParams {
  readonly defaults: Readonly<Record<string, Json>>;
  readonly required: readonly string[];
}

/** An object with `default` or `schema` describes a param; everything else is a default itself. */
export function readParams(params: unknown, report: (message: string) => void): ReadParams {
  const defaults: Record<string, Json> = {};
  const required: string[] = [];
  if (params === undefined) return { defaults, required };
  if (typeof params !== "object" || params === null || Array.isArray(params)) {
    report(`params must be an object, got ${show(params)}`);
    return { defaults, required };
  }
  for (const [name, value] of Object.entries(params)) {
    const given = defaultOf(value);
    if (given === undefined) {
      required.push(name);
      continue;
    }
    try {
      Object.defineProperty(defaults, name, { value: encodeJson(given), enumerable: true });
    } catch (error) {
      report(`param "${name}": ${error instanceof Error ? error.message : String(error)}`);
    }
  }
  return { defaults, required };
}

function defaultOf(param: unknown): unknown {
  if (typeof param !== "object" || param === null || Array.isArray(param)) return param;
  if ("default" in param) return param.default;
  return "schema" in param ? undefined : param;
}
