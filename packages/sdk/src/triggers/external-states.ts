import { boolean, seconds, show, type Check } from "../reading/checks.ts";
import { wrongId } from "../reading/ids.ts";
import type { ExternalStatesEvent, ExternalStatesKwargs } from "../spec/index.ts";
import { builtIn, POLL_SECONDS } from "./built-in.ts";
import type { Trigger } from "./trigger.ts";

/** What the triggers on runs and on tasks of other DAGs have in common. One of `logicalDates` and `runIds` is needed. */
export interface DagRunStateOptions {
  readonly dagId: string;
  /** Wait for the runs of these dates; each needs one of its own. */
  readonly logicalDates?: readonly Date[];
  /** Wait for these runs. */
  readonly runIds?: readonly string[];
  /** All that is waited for has to be in one of these. @default ["success"] */
  readonly allowedStates?: readonly string[];
  /** One of these ends the wait with the outcome `failed`. @default ["failed"], for tasks also "upstream_failed" */
  readonly failedStates?: readonly string[];
  /** One of these ends the wait with the outcome `skipped`. @default [] */
  readonly skippedStates?: readonly string[];
  /** Fail when what is waited for does not exist, instead of waiting for it to appear. @default false */
  readonly checkExistence?: boolean;
  /** Seconds between two looks. @default 60 */
  readonly pollSeconds?: number;
}

/** See {@link taskState}. One of `taskIds` and `taskGroupId` is needed. */
export interface TaskStateOptions extends DagRunStateOptions {
  /** Each of these tasks; all instances of one that is mapped. */
  readonly taskIds?: readonly string[];
  /** Every task of this group. */
  readonly taskGroupId?: string;
}

const id: Check = (value) =>
  typeof value === "string" && wrongId(value) === undefined ? undefined : `must be an id, got ${show(value)}`;

const listOf =
  (check: (value: unknown) => boolean, what: string): Check =>
  (value) =>
    Array.isArray(value) && value.length > 0 && value.every(check)
      ? undefined
      : `must be an array of ${what}, not empty, got ${show(value)}`;

const isText = (value: unknown): boolean => typeof value === "string" && value !== "";
const isDate = (value: unknown): boolean => value instanceof Date && !Number.isNaN(value.getTime());
const states: Check = (value) =>
  Array.isArray(value) && value.every(isText) ? undefined : `must be an array of states, got ${show(value)}`;

const RUN_CHECKS: Readonly<Record<keyof DagRunStateOptions, Check>> = {
  dagId: id,
  logicalDates: listOf(isDate, "valid Dates"),
  runIds: listOf(isText, "run ids"),
  allowedStates: states,
  failedStates: states,
  skippedStates: states,
  checkExistence: boolean,
  pollSeconds: seconds("positive"),
};

const TASK_CHECKS: Readonly<Record<keyof TaskStateOptions, Check>> = {
  ...RUN_CHECKS,
  taskIds: listOf(isText, "task ids"),
  taskGroupId: id,
};

/** Fires when runs of a DAG are in some states. What a task that waits for the run it started uses. */
export function dagRunState(options: DagRunStateOptions): Trigger<ExternalStatesEvent> {
  return builtIn(
    "external_states",
    options,
    RUN_CHECKS,
    () => kwargsOf(options, ["failed"]),
    () => whichRuns(options),
  );
}

/** Fires when tasks of a DAG, this one or another, are in some states. Airflow's `WorkflowTrigger`. */
export function taskState(options: TaskStateOptions): Trigger<ExternalStatesEvent> {
  return builtIn(
    "external_states",
    options,
    TASK_CHECKS,
    () => kwargsOf(options, ["failed", "upstream_failed"]),
    () => [
      ...whichRuns(options),
      ...((options.taskIds === undefined) === (options.taskGroupId === undefined)
        ? ["give exactly one of taskIds and taskGroupId"]
        : []),
    ],
  );
}

function whichRuns(options: DagRunStateOptions): readonly string[] {
  if (options.dagId === undefined) return ["dagId is missing"]; // from plain JavaScript
  return (options.logicalDates === undefined) === (options.runIds === undefined)
    ? ["give exactly one of logicalDates and runIds"]
    : [];
}

function kwargsOf(options: TaskStateOptions, failed: readonly string[]): ExternalStatesKwargs {
  const { dagId, taskIds, taskGroupId, logicalDates, runIds } = options;
  return {
    dagId,
    ...(taskIds === undefined ? {} : { taskIds }),
    ...(taskGroupId === undefined ? {} : { taskGroupId }),
    ...(logicalDates === undefined ? {} : { logicalDates: logicalDates.map((at) => at.toISOString()) }),
    ...(runIds === undefined ? {} : { runIds }),
    allowedStates: options.allowedStates ?? ["success"],
    failedStates: options.failedStates ?? failed,
    skippedStates: options.skippedStates ?? [],
    checkExistence: options.checkExistence ?? false,
    pollSeconds: options.pollSeconds ?? POLL_SECONDS,
  };
}
