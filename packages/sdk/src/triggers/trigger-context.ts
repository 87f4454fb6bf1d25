import type { RunHost } from "../runtime/protocol.ts";
import type { TaskClient } from "../runtime/task-client.ts";
import type { TaskContext } from "../runtime/task-context.ts";

/** What a trigger's `run` gets beside its kwargs. */
export interface TriggerContext {
  /**
   * Aborted when nobody waits any more: the task was cleared, marked or timed out, or the trigger moves to another
   * triggerer. Give it to everything that waits.
   */
  readonly signal: AbortSignal;
  /** One line of the waiting task's log. */
  readonly log: RunHost["log"];
  /** The attempt that waits. */
  readonly task: TaskContext;
  /** Variables, connections and XComs, as the task would see them. */
  readonly client: TaskClient;
}
