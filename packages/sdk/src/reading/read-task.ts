import type { TaskNode } from "../authoring/definition.ts";
import type { TaskOptions } from "../authoring/task-options.ts";
import { TRIGGER_RULES, WEIGHT_RULES, type InputSpec, type TaskSpec } from "../spec/index.ts";
import {
  anything,
  boolean,
  callbacks,
  checkOptions,
  date,
  integer,
  name,
  oneOf,
  seconds,
  show,
  text,
  type Check,
} from "./checks.ts";
import { assetUses, usesOf } from "./read-assets.ts";
import { present } from "./present.ts";

const INT32 = 2 ** 31;

const CHECKS: Readonly<Record<keyof TaskOptions, Check>> = {
  taskId: anything, // became the task's id, which is checked as such
  owner: name(250),
  startDate: date,
  endDate: date,
  triggerRule: oneOf(TRIGGER_RULES),
  dependsOnPast: boolean,
  ignoreFirstDependsOnPast: boolean,
  waitForPastDependsBeforeSkipping: boolean,
  waitForDownstream: boolean,
  retries: integer(0, INT32 - 1),
  infraRetries: integer(0, INT32 - 1),
  queue: name(250),
  pool: name(250),
  poolSlots: integer(1, INT32 - 1),
  executionTimeout: seconds("positive"),
  retryDelay: seconds("zero or more"),
  retryExponentialBackoff: (value) =>
    typeof value === "boolean" || (typeof value === "number" && Number.isFinite(value) && (value === 0 || value >= 1))
      ? undefined
      : `must be true, false, or a factor of 1 or more, got ${show(value)}`,
  maxRetryDelay: seconds("positive"),
  priorityWeight: integer(0, INT32 - 1),
  weightRule: oneOf(WEIGHT_RULES),
  executor: name(250),
  doXcomPush: boolean,
  returnsDagResult: boolean,
  docMd: text,
  mapIndexTemplate: text,
  maxActiveTisPerDag: integer(1),
  maxActiveTisPerDagrun: integer(1),
  taskDisplayName: name(2000),
  outlets: assetUses,
  inlets: assetUses,
  onExecute: callbacks,
  onSuccess: callbacks,
  onFailure: callbacks,
  onRetry: callbacks,
  onSkipped: callbacks,
};

export const TASK_OPTION_NAMES: readonly string[] = Object.keys(CHECKS);

const CALLBACKS = ["onExecute", "onSuccess", "onFailure", "onRetry", "onSkipped"] as const;

/** Everything that is wrong with a task's options. */
export function wrongTaskOptions(task: TaskNode): readonly string[] {
  const wrong = [...checkOptions(task.options, CHECKS), ...(task.body.problems ?? [])];
  const { triggerRule } = taskOptions(task);
  return task.isTeardown && triggerRule !== undefined && triggerRule !== "all_done_setup_success"
    ? [...wrong, `triggerRule must be left out or "all_done_setup_success" for a teardown, got ${show(triggerRule)}`]
    : wrong;
}

/** What is wrong with the options that a group gives to its tasks. */
export const wrongGroupDefaults: Check = (value) => {
  const { taskId: _id, triggerRule: _rule, ...checks } = CHECKS;
  const wrong = checkOptions(value, checks, { names: ["taskId", "triggerRule"], where: "to the task itself" });
  return wrong.length === 0 ? undefined : `: ${wrong.join("; ")}`;
};

/** Its options. Wrong ones are reported, and what is built from them is thrown away then. */
export function taskOptions(task: TaskNode): TaskOptions {
  return typeof task.options === "object" && task.options !== null ? task.options : {};
}

/** The task as data, with all defaults applied. */
export function taskSpec(
  task: TaskNode,
  dagQueue: string | undefined,
  upstream: readonly string[],
  inputs: Readonly<Record<string, InputSpec>>,
): TaskSpec {
  const options = taskOptions(task);
  const backoff = options.retryExponentialBackoff ?? false;
  return {
    taskId: task.id,
    operator: task.body.name,
    upstream,
    inputs,
    ...present({ branch: task.decision === undefined ? task.body.branch : ("branch" as const) }),
    ...present({
      startTrigger: task.body.startTrigger,
      externalTaskMarker: task.body.externalTaskMarker,
      ignoreDownstreamTriggerRules: task.body.ignoreDownstreamTriggerRules,
    }),
    isSetup: task.isSetup,
    isTeardown: task.isTeardown,
    onFailureFailDagrun: task.onFailureFailDagrun,
    owner: options.owner ?? "airflow",
    ...present({ startDate: options.startDate?.toISOString(), endDate: options.endDate?.toISOString() }),
    triggerRule: task.isTeardown ? "all_done_setup_success" : (options.triggerRule ?? "all_success"),
    // Airflow: waiting for the downstream tasks of the run before includes waiting for the task itself.
    dependsOnPast: options.dependsOnPast === true || options.waitForDownstream === true,
    ignoreFirstDependsOnPast: options.ignoreFirstDependsOnPast ?? false,
    waitForPastDependsBeforeSkipping: options.waitForPastDependsBeforeSkipping ?? false,
    waitForDownstream: options.waitForDownstream ?? false,
    retries: options.retries ?? 0,
    infraRetries: options.infraRetries ?? 0,
    queue: options.queue ?? dagQueue ?? "default",
    pool: options.pool ?? "default_pool",
    poolSlots: options.poolSlots ?? 1,
    ...present({ executionTimeout: options.executionTimeout }),
    retryDelay: options.retryDelay ?? 300,
    retryExponentialBackoff: typeof backoff === "number" ? backoff : backoff ? 2 : 0,
    ...present({ maxRetryDelay: options.maxRetryDelay }),
    priorityWeight: options.priorityWeight ?? 1,
    weightRule: options.weightRule ?? "downstream",
    ...present({ executor: options.executor }),
    doXcomPush: options.doXcomPush ?? true,
    returnsDagResult: options.returnsDagResult ?? false,
    ...present({
      docMd: options.docMd,
      mapIndexTemplate: options.mapIndexTemplate,
      maxActiveTisPerDag: options.maxActiveTisPerDag,
      maxActiveTisPerDagrun: options.maxActiveTisPerDagrun,
      taskDisplayName: options.taskDisplayName,
    }),
    ...present({ outlets: usesOf(options.outlets), inlets: usesOf(options.inlets) }),
    callbacks: CALLBACKS.filter((callback) => [options[callback] ?? []].flat().length > 0),
  };
}
