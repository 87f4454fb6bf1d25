import type { NoArguments } from "../authoring/handlers.ts";
import { Operator } from "./operator.ts";

/**
 * Goes on only in the newest run of the schedule: in a run whose next interval is over already, what is directly
 * downstream is skipped, and trigger rules decide about the rest. A run that was started by hand always goes on. The
 * value tells which it was. Airflow's `LatestOnlyOperator`.
 */
export function latestOnly(): Operator<NoArguments, boolean> {
  return new Operator({
    name: "latest_only",
    branch: "short_circuit",
    ignoreDownstreamTriggerRules: false,
    run: (_inputs, scope) => scope.isLatestRun ?? true,
  });
}
