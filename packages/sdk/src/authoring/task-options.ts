import type { AssetUse } from "../assets/asset.ts";
import type { TaskError } from "../runtime/protocol.ts";
import type { TriggerRule, WeightRule } from "../spec/index.ts";

/** What a task's callback is told. */
export interface TaskCallbackEvent {
  readonly dagId: string;
  readonly taskId: string;
  readonly runId: string;
  readonly mapIndex: number;
  readonly tryNumber: number;
  /** Why, when it is known: the error in one line, the loss of a worker, who marked the task. */
  readonly reason?: string;
  /** What went wrong, for `onFailure` and `onRetry`; its stack is in the log. */
  readonly error?: TaskError;
  /** Names this event. A callback runs at least once: what has to happen once is done under this key. */
  readonly key: string;
}

/**
 * Runs after a transition of the task (`onExecute`: right before the handler, each time that a process starts it), in a
 * process of a worker that may be another one than the task's, at least once. Its return value is ignored; what it throws
 * is logged and changes nothing for the task. `getContext()` and `getClient()` work in it; XComs can be read only.
 */
export type TaskCallback = (event: TaskCallbackEvent) => unknown;

/** The options of a task, with Airflow's names and defaults. Durations are seconds. */
export interface TaskOptions<Rule extends TriggerRule = TriggerRule> {
  /** The id, for `dag.task(handler, { taskId })`. @default the handler's function name */
  readonly taskId?: string;
  /** Whom to ask about the task. @default "airflow" */
  readonly owner?: string;
  /** No instance of the task runs for a logical date before this. */
  readonly startDate?: Date;
  /** No instance of the task runs for a logical date after this. */
  readonly endDate?: Date;
  /**
   * Which outcomes of the tasks directly upstream let this one run. With any other than `all_success` an upstream
   * value can be missing, and the handler's argument must say so. @default "all_success"
   */
  readonly triggerRule?: Rule;
  /** Wait until this task succeeded or was skipped in the run before. @default false */
  readonly dependsOnPast?: boolean;
  /** Let `dependsOnPast` pass when the task never ran before. @default false */
  readonly ignoreFirstDependsOnPast?: boolean;
  /** Become skipped only once `dependsOnPast` is met. @default false */
  readonly waitForPastDependsBeforeSkipping?: boolean;
  /** As `dependsOnPast`, and the tasks directly downstream must be done in the run before, too. @default false */
  readonly waitForDownstream?: boolean;
  /** How often to try again after a failure. @default 0 */
  readonly retries?: number;
  /** How often to run a task with `retries: 0` again when its worker was lost. Airflow has no counterpart. @default 0 */
  readonly infraRetries?: number;
  /** Which workers may run it. @default the DAG's `queue`, else "default" */
  readonly queue?: string;
  /** The pool that it takes slots from. @default "default_pool" */
  readonly pool?: string;
  /** How many slots of the pool it takes; 1 or more. @default 1 */
  readonly poolSlots?: number;
  /** Seconds after which a running attempt is stopped and fails. @default no limit */
  readonly executionTimeout?: number;
  /** Seconds between a failure and the next try. @default 300 */
  readonly retryDelay?: number;
  /** Let each delay grow by this factor; `true` means 2, `false` and 0 switch it off. @default false */
  readonly retryExponentialBackoff?: boolean | number;
  /** The longest delay between two tries, in seconds. */
  readonly maxRetryDelay?: number;
  /** Tasks with a higher weight are queued first; from 0 to 2³¹ - 1. @default 1 */
  readonly priorityWeight?: number;
  /** Whose weights are added to the task's own: all downstream, all upstream, or none. @default "downstream" */
  readonly weightRule?: WeightRule;
  /** Kept for compatibility; shown, but not interpreted. */
  readonly executor?: string;
  /** Whether the return value is stored for other tasks. @default true */
  readonly doXcomPush?: boolean;
  /** Whether the task's value is the result of the whole run. @default false */
  readonly returnsDagResult?: boolean;
  /** Documentation in Markdown, shown in the UI. */
  readonly docMd?: string;
  /** A template that labels the instances of a mapped task. */
  readonly mapIndexTemplate?: string;
  /** The most instances of this task that are active at once, across runs. */
  readonly maxActiveTisPerDag?: number;
  /** The most instances of this task that are active at once within one run. */
  readonly maxActiveTisPerDagrun?: number;
  /** The name to show instead of the id. */
  readonly taskDisplayName?: string;
  /**
   * What the task updates: each success is an event of each of these assets. An alias has the events that the handler
   * gives it. A task that fails or is skipped has none. @default none
   */
  readonly outlets?: AssetUse | readonly AssetUse[];
  /** What the task reads. It changes no order; the handler finds the events with `getClient().getAssetEvents`. @default none */
  readonly inlets?: AssetUse | readonly AssetUse[];
  /** Called when an attempt starts. */
  readonly onExecute?: TaskCallback | readonly TaskCallback[];
  /** Called when the task succeeded. */
  readonly onSuccess?: TaskCallback | readonly TaskCallback[];
  /** Called when the task failed for good; not for `upstream_failed`. */
  readonly onFailure?: TaskCallback | readonly TaskCallback[];
  /** Called when an attempt failed and another will follow. */
  readonly onRetry?: TaskCallback | readonly TaskCallback[];
  /** Called when the handler skipped itself; not when a trigger rule or a branch skipped the task. */
  readonly onSkipped?: TaskCallback | readonly TaskCallback[];
}
