// Where the output of a run's own callbacks lies; those of a task write to the log of its attempt.
import { join } from "node:path";
import { segment, type AttemptLogKey } from "./attempt-log-path.ts";

export type CallbacksLogKey = Pick<AttemptLogKey, "dagId" | "runId">;

/** `<base>/dag_id=…/run_id=…/callbacks.log`: beside the folders of the run's tasks. */
export function callbacksLogPath(base: string, key: CallbacksLogKey): string {
  return join(base, `dag_id=${segment(key.dagId)}`, `run_id=${segment(key.runId)}`, "callbacks.log");
}
