import type { NoArguments } from "../authoring/handlers.ts";
import { checkOptions, integer, show, type Check } from "../reading/checks.ts";
import { wrongId } from "../reading/ids.ts";
import { Operator } from "./operator.ts";

/** The options of {@link externalTaskMarker}. */
export interface ExternalTaskMarkerOptions {
  /** The DAG with the task that waits for this one. */
  readonly dagId: string;
  /** The task in it that waits, usually an `externalTask`. */
  readonly taskId: string;
  /** How many markers in a row a recursive clear follows; 1 or more. @default 10 */
  readonly recursionDepth?: number;
}

/**
 * Does nothing, and says who waits for it: a recursive clear of this task also clears that task of the other DAG, at the
 * same logical date, with what is downstream of it. Airflow's `ExternalTaskMarker`.
 */
export function externalTaskMarker(options: ExternalTaskMarkerOptions): Operator<NoArguments, undefined> {
  const id: Check = (value) =>
    typeof value === "string" && wrongId(value) === undefined ? undefined : `must be an id, got ${show(value)}`;
  const { dagId, taskId, recursionDepth = 10 } = options;
  return new Operator({
    name: "external_task_marker",
    problems: [
      ...checkOptions(options, { dagId: id, taskId: id, recursionDepth: integer(1, 1000) }),
      ...(dagId === undefined || taskId === undefined ? ["dagId and taskId are needed"] : []),
    ],
    externalTaskMarker: { dagId, taskId, recursionDepth },
    run: () => undefined,
  });
}
