// Why the deciders said what they said of a task instance, as values; the sentences made of them are in one place.
import type { TriggerRule } from "@millrace/sdk/spec";
import { isFinished, type TaskState } from "./task-state.ts";

export interface WatchedTask {
  readonly taskId: string;
  readonly mapIndex: number;
  readonly state: TaskState;
  /** How many instances of the task are in the state, where it stands for more than one. */
  readonly count?: number;
}

export type Cause =
  /** Its retry delay is not over. */
  | { readonly kind: "retry_delay" }
  /** The next poke of a sensor that gave its slot back is not due. */
  | { readonly kind: "poke_delay" }
  | { readonly kind: "branch_not_taken"; readonly by: string }
  | { readonly kind: "cut_short"; readonly by: string }
  | { readonly kind: "setup"; readonly taskId: string; readonly state: TaskState }
  | { readonly kind: "trigger_rule"; readonly rule: TriggerRule; readonly upstreams: readonly WatchedTask[] }
  /** A teardown waits for what uses that which it tears down. */
  | { readonly kind: "teardown_scope"; readonly taskId: string; readonly state: TaskState }
  /** It is mapped over the value of this task, which is not there. */
  | { readonly kind: "expansion"; readonly taskId: string; readonly state: TaskState }
  | { readonly kind: "not_expandable"; readonly reason: string }
  /** The list that it is mapped over is shorter than its index. */
  | { readonly kind: "list_too_short"; readonly length: number }
  /** The run was moved to a version in which its task is not mapped. */
  | { readonly kind: "not_mapped" }
  /** State null: the run before has no such task. */
  | {
      readonly kind: "depends_on_past";
      readonly runId: string;
      readonly taskId: string;
      readonly state: TaskState | null;
    };

export function sayCause(cause: Cause): string {
  switch (cause.kind) {
    case "retry_delay":
      return "its retry delay is not over";
    case "poke_delay":
      return "its next poke is not due";
    case "branch_not_taken":
      return `${cause.by} took another branch`;
    case "cut_short":
      return `${cause.by} cut the DAG short`;
    case "setup":
      return cause.state === "skipped"
        ? `its setup ${cause.taskId} was skipped`
        : `its setup ${cause.taskId} is ${cause.state}`;
    case "trigger_rule":
      return `trigger rule ${cause.rule}: ${cause.upstreams.map(sayUpstream).join(", ")}`;
    case "expansion":
      return isFinished(cause.state)
        ? `it is mapped over ${cause.taskId}, which is ${cause.state}`
        : `it is expanded when ${cause.taskId} has ended, which is ${cause.state}`;
    case "not_expandable":
      return cause.reason;
    case "list_too_short":
      return `what it is mapped over has ${cause.length === 0 ? "no" : `only ${cause.length}`} elements`;
    case "not_mapped":
      return "its task is not mapped any more";
    case "teardown_scope":
      return `${cause.taskId}, which uses what it tears down, is ${cause.state}`;
    case "depends_on_past":
      return cause.state === null
        ? `it depends on its past, and run ${cause.runId} has no ${cause.taskId}`
        : `it depends on its past, and ${cause.taskId} of run ${cause.runId} is ${cause.state}`;
  }
}

const sayUpstream = ({ taskId, mapIndex, state, count = 1 }: WatchedTask): string =>
  count > 1 ? `${count} of ${taskId} are ${state}` : `${taskId}${mapIndex < 0 ? "" : `[${mapIndex}]`} is ${state}`;
