import type { NoArguments } from "../authoring/handlers.ts";
import { secondsOf, type Duration } from "../authoring/schedules.ts";
import { SkipTask } from "../errors/task-signals.ts";
import { ExternalTaskFailed } from "../errors/wait-errors.ts";
import { Operator } from "../operators/operator.ts";
import { textField, textListField } from "../operators/read-fields.ts";
import { boolean, show, type Check } from "../reading/checks.ts";
import { wrongId } from "../reading/ids.ts";
import type { RunScope } from "../runtime/run-scope.ts";
import type { TaskContext } from "../runtime/task-context.ts";
import {
  judgeExternalStates,
  type ExternalState,
  type ExternalStatesEvent,
  type ExternalStatesKwargs,
} from "../spec/index.ts";
import { isTemplate } from "../templates/parse-template.ts";
import type { RenderedFields } from "../templates/render-fields.ts";
import { Trigger } from "../triggers/trigger.ts";
import { builtInSensor } from "./built-in-sensor.ts";
import { readSensorOptions, type SensorMode, type SensorOptions } from "./sensor-options.ts";

const TRIGGER = "millrace.external_states";
const RUN_STATES = ["queued", "running", "success", "failed"];
const TASK_STATES = [
  ...["none", "removed", "scheduled", "queued", "running", "success", "restarting", "failed", "up_for_retry"],
  ...["up_for_reschedule", "upstream_failed", "skipped", "deferred", "shutdown"],
];

/**
 * The options of {@link externalTaskSensor}. At most one of the three that name tasks; without, the run is waited for. Ids
 * are templates.
 */
export interface ExternalTaskSensorOptions extends SensorOptions {
  readonly externalDagId: string;
  readonly externalTaskId?: string;
  readonly externalTaskIds?: readonly string[];
  readonly externalTaskGroupId?: string;
  /** How much earlier the logical date of the other run is: seconds, or a duration. @default 0, the same date */
  readonly executionDelta?: number | Duration;
  /** The logical dates to wait for, when a fixed distance does not say it. Excludes `executionDelta`. */
  readonly executionDateFn?: (logicalDate: Date, context: TaskContext) => Date | readonly Date[];
  /** What all of them have to be in. @default ["success"] */
  readonly allowedStates?: readonly string[];
  /** One in such a state skips this task. @default [] */
  readonly skippedStates?: readonly string[];
  /** One in such a state fails this task, or skips it with `softFail`. @default []: it is waited on, for it can be cleared */
  readonly failedStates?: readonly string[];
  /** Fail when the DAG, the task or the group does not exist, instead of waiting for it to appear. @default false */
  readonly checkExistence?: boolean;
}

/**
 * Waits for tasks of another DAG, or for its whole run, at a logical date that follows from this run's. Mark the other
 * task with `externalTaskMarker` to have a clear of it clear this one. Airflow's `ExternalTaskSensor`.
 */
export function externalTaskSensor(options: ExternalTaskSensorOptions): Operator<NoArguments, undefined> {
  return build("external_task_sensor", options, "poke");
}

/**
 * The same as an operator that holds no worker: in mode `deferrable` unless told otherwise.
 *
 * @example `dag.task("loaded", externalTask({ externalDagId: "load", externalTaskId: "publish", executionDelta: 3600 }))`
 */
export function externalTask(options: ExternalTaskSensorOptions): Operator<NoArguments, undefined> {
  return build("external_task", options, "deferrable");
}

function build(name: string, options: ExternalTaskSensorOptions, mode: SensorMode): Operator<NoArguments, undefined> {
  const others = (["poke", "reschedule", "deferrable"] as const).filter((other) => other !== mode);
  const read = readSensorOptions(options, checksOf(options), [mode, ...others]);
  const { softFail, pokeInterval } = read.settings;
  const kwargs = (fields: RenderedFields, { context }: RunScope): ExternalStatesKwargs => ({
    ...watchedOf(options, fields, context),
    pollSeconds: pokeInterval,
  });
  return new Operator(
    builtInSensor<ExternalStatesEvent>({
      name,
      options: read,
      problems: wrongTogether(options),
      fields: {
        externalDagId: { value: options.externalDagId },
        externalTaskId: { value: options.externalTaskId },
        externalTaskIds: { value: options.externalTaskIds },
        externalTaskGroupId: { value: options.externalTaskGroupId },
      },
      poke: async (fields, scope, { pokeNumber }) => {
        const { host } = scope;
        if (host.getExternalStates === undefined) throw new Error("this worker cannot see the states of other tasks");
        const asked = kwargs(fields, scope);
        const { dagId, taskIds, taskGroupId, logicalDates = [] } = asked;
        const states = await host.getExternalStates({
          ...{ dagId, logicalDates },
          ...(taskIds === undefined ? {} : { taskIds }),
          ...(taskGroupId === undefined ? {} : { taskGroupId }),
          // As in Airflow, only the first poke asks; what is removed later is waited for.
          checkExistence: asked.checkExistence && pokeNumber === 1,
        });
        const outcome = judgeExternalStates(asked, states);
        if (outcome === "wait") return false;
        conclude(asked, { outcome, states }, softFail);
        return true;
      },
      triggerName: TRIGGER,
      trigger: (fields, scope) => new Trigger<ExternalStatesEvent>(TRIGGER, kwargs(fields, scope)),
      judge: (event) => conclude(options, event, softFail),
    }),
  );
}

function conclude(
  asked: Pick<ExternalTaskSensorOptions, "failedStates" | "skippedStates">,
  { outcome, states }: ExternalStatesEvent,
  softFail: boolean,
): undefined {
  if (outcome === "allowed") return undefined;
  const culprits = (outcome === "failed" ? asked.failedStates : asked.skippedStates) ?? [];
  const message = describeStates(states.filter(({ state }) => culprits.includes(state)));
  throw outcome === "skipped" || softFail ? new SkipTask(message) : new ExternalTaskFailed(message);
}

function describeStates(states: readonly ExternalState[]): string {
  const shown = states.slice(0, 5).map(({ runId, taskId, mapIndex, state }) => {
    const task = taskId === null ? "" : ` task "${taskId}"${mapIndex === -1 ? "" : `[${mapIndex}]`}`;
    return `run "${runId}"${task} is ${state}`;
  });
  const more = states.length > shown.length ? ` and ${states.length - shown.length} more` : "";
  return `what is waited for has ended otherwise: ${shown.join(", ")}${more}`;
}

function watchedOf(
  options: ExternalTaskSensorOptions,
  fields: RenderedFields,
  context: TaskContext,
): Omit<ExternalStatesKwargs, "pollSeconds"> {
  const { executionDelta = 0, executionDateFn } = options;
  // A run without a logical date is about the moment at which it was allowed to start.
  const own = context.logicalDate ?? context.runAfter;
  const delta = typeof executionDelta === "number" ? executionDelta : secondsOf(executionDelta);
  const dates = executionDateFn?.(own, context) ?? new Date(own.getTime() - delta * 1000);
  const idOf = (name: string): string => requireId(name, textField(fields, name));
  const many = textListField(fields, "externalTaskIds").map((id) => requireId("externalTaskIds", id));
  const taskIds = options.externalTaskId === undefined ? many : [idOf("externalTaskId")];
  return {
    dagId: idOf("externalDagId"),
    ...(taskIds.length === 0 ? {} : { taskIds }),
    ...(options.externalTaskGroupId === undefined ? {} : { taskGroupId: idOf("externalTaskGroupId") }),
    logicalDates: [dates].flat().map((date) => date.toISOString()),
    allowedStates: options.allowedStates ?? ["success"],
    failedStates: options.failedStates ?? [],
    skippedStates: options.skippedStates ?? [],
    checkExistence: options.checkExistence ?? false,
  };
}

function requireId(name: string, id: string): string {
  const wrong = wrongId(id);
  if (wrong === undefined) return id;
  throw new TypeError(`${name} must be an id, got ${show(id)}`);
}

function checksOf(options: ExternalTaskSensorOptions): Readonly<Record<string, Check>> {
  const isId = (value: unknown) => typeof value === "string" && (isTemplate(value) || wrongId(value) === undefined);
  const id: Check = (value) => (isId(value) ? undefined : `must be an id, got ${show(value)}`);
  const known = watchesTasks(options) ? TASK_STATES : RUN_STATES;
  const states: Check = (value) => {
    const wrong = Array.isArray(value) ? value.find((state: unknown) => !known.includes(String(state))) : value;
    const what = known === RUN_STATES ? "runs" : "tasks";
    return Array.isArray(value) && wrong === undefined
      ? undefined
      : `must be an array of states of ${what} (${known.join(", ")}), got ${show(wrong)}`;
  };
  return {
    externalDagId: id,
    externalTaskId: id,
    externalTaskIds: (value) =>
      Array.isArray(value) && value.length > 0 && value.every(isId) && new Set(value).size === value.length
        ? undefined
        : `must be an array of different task ids, not empty, got ${show(value)}`,
    externalTaskGroupId: id,
    executionDelta: (value) =>
      (typeof value === "number" && Number.isFinite(value)) || (typeof value === "object" && value !== null)
        ? undefined
        : `must be a number of seconds or a duration, got ${show(value)}`,
    executionDateFn: (value) => (typeof value === "function" ? undefined : `must be a function, got ${show(value)}`),
    allowedStates: states,
    skippedStates: states,
    failedStates: states,
    checkExistence: boolean,
  };
}

function watchesTasks(options: ExternalTaskSensorOptions): boolean {
  const { externalTaskId, externalTaskIds, externalTaskGroupId } = options;
  return [externalTaskId, externalTaskIds, externalTaskGroupId].some((named) => named !== undefined);
}

function wrongTogether(options: ExternalTaskSensorOptions): readonly (string | undefined)[] {
  const { externalTaskId, externalTaskIds, externalTaskGroupId, allowedStates = ["success"] } = options;
  const named = [externalTaskId, externalTaskIds, externalTaskGroupId].filter((given) => given !== undefined);
  const states = [allowedStates, options.skippedStates ?? [], options.failedStates ?? []].flat();
  const twice = states.find((state, index) => states.indexOf(state) !== index);
  return [
    options.externalDagId === undefined ? "externalDagId is missing" : undefined,
    named.length > 1 ? "give at most one of externalTaskId, externalTaskIds and externalTaskGroupId" : undefined,
    options.executionDelta !== undefined && options.executionDateFn !== undefined
      ? "executionDelta and executionDateFn exclude each other"
      : undefined,
    twice === undefined
      ? undefined
      : `the state "${twice}" is named twice among allowedStates, skippedStates and failedStates`,
  ];
}
