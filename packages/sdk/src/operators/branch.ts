import type { NoArguments } from "../authoring/handlers.ts";
import type { DagEnd } from "../authoring/refs.ts";
import { Operator } from "./operator.ts";

/** A task or a group directly downstream, as the reference that the SDK returned or as its full id; several; or none. */
export type BranchChoice = DagEnd | string | readonly (DagEnd | string)[] | null | undefined | void;

/**
 * Follows only the tasks that `choose` returns; every other task directly downstream is skipped, unless it also comes
 * after a chosen one. Choosing none skips them all. The value of the task is the chosen ids. Airflow's
 * `BranchPythonOperator`.
 */
export function branch<A extends object = NoArguments>(
  choose: (args: A) => BranchChoice | Promise<BranchChoice>,
): Operator<A, string | readonly string[] | null> {
  return new Operator({
    name: "branch",
    branch: "branch",
    run: (inputs) => choose(inputs as A), // the factory's types ask for the inputs that `choose` takes
  });
}
