import { Operator } from "./operator.ts";
import type { NoArguments } from "../authoring/handlers.ts";

/** Does nothing: a place where edges meet. Airflow's `EmptyOperator`. */
export function empty(): Operator<NoArguments, undefined> {
  return new Operator({ name: "empty", run: () => undefined });
}
