import type { NoArguments } from "../authoring/handlers.ts";
import type { NotJsonSafe, JsonSafe } from "../values/json-safe.ts";
import { Operator } from "./operator.ts";

/** The options of {@link shortCircuit}. */
export interface ShortCircuitOptions {
  /**
   * `true`: skip everything downstream, whatever its trigger rule. `false`: skip only what is directly downstream, and
   * let trigger rules decide about the rest. Teardowns are never skipped. @default true
   */
  readonly ignoreDownstreamTriggerRules?: boolean;
}

/**
 * Goes on only when `test` returns something true: not `false`, `0`, `""`, `null`, `undefined`, nor an empty array or
 * object. Otherwise what is downstream is skipped. Airflow's `ShortCircuitOperator`.
 */
export function shortCircuit<R, A extends object = NoArguments>(
  test: ((args: A) => R) & ([Awaited<R>] extends [JsonSafe<Awaited<R>>] ? unknown : NotJsonSafe<Awaited<R>>),
  options: ShortCircuitOptions = {},
): Operator<A, R> {
  return new Operator({
    name: "short_circuit",
    branch: "short_circuit",
    ignoreDownstreamTriggerRules: options.ignoreDownstreamTriggerRules ?? true,
    run: (inputs) => test(inputs as A), // the factory's types ask for the inputs that `test` takes
  });
}
