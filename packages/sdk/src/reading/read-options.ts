import type { DagDefinition } from "../authoring/definition.ts";
import type { DagOptions } from "../authoring/dag-options.ts";
import type { DagSpec } from "../spec/index.ts";
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
import { present } from "./present.ts";
import { readParams } from "./read-params.ts";
import { TASK_OPTION_NAMES } from "./read-task.ts";
import { readSchedule, wrongTimezone } from "./read-schedule.ts";

const tags: Check = (value) => {
  const wrong = Array.isArray(value) ? value.find((tag: unknown) => name(100)(tag) !== undefined) : value;
  return Array.isArray(value) && !value.some((tag: unknown) => name(100)(tag) !== undefined)
    ? undefined
    : `must be an array of strings of 1 to 100 characters, got ${show(wrong)}`;
};

const CHECKS: Readonly<Record<keyof DagOptions, Check>> = {
  schedule: anything, // read-schedule.ts
  timezone: wrongTimezone,
  description: text,
  startDate: date,
  endDate: date,
  tags,
  dagDisplayName: name(2000),
  docMd: text,
  maxActiveTasks: integer(1),
  maxActiveRuns: integer(1),
  maxConsecutiveFailedDagRuns: integer(0),
  dagrunTimeout: seconds("positive"),
  catchup: oneOf([true, false, "none"]),
  failFast: boolean,
  renderTemplateAsNativeObj: boolean,
  isPausedUponCreation: boolean,
  disableBundleVersioning: boolean,
  queue: name(250),
  params: anything, // read-params.ts
  onSuccess: callbacks,
  onFailure: callbacks,
};

/** The part of a DAG's spec that its options decide. Everything wrong is reported, and the result thrown away then. */
export function readDagOptions(
  dag: DagDefinition,
  report: (message: string) => void,
): Omit<DagSpec, "dagId" | "owners" | "groups" | "tasks"> {
  const wrong = checkOptions(dag.options, CHECKS, { names: TASK_OPTION_NAMES, where: "to each task" });
  wrong.forEach(report);
  const options: DagOptions = typeof dag.options === "object" && dag.options !== null ? dag.options : {};
  const timezone = wrongTimezone(options.timezone ?? "UTC") === undefined ? (options.timezone ?? "UTC") : "UTC";
  const schedule = readSchedule(options.schedule, timezone, report);
  const params = readParams(options.params, report);
  const catchup = options.catchup ?? false;
  const needsStart = ["cron", "cronTrigger", "multipleCron", "delta"].includes(schedule.kind);
  if (needsStart && catchup === true && options.startDate === undefined) {
    report("catchup: true needs a startDate: there is no first interval without one");
  }
  if (schedule.kind === "continuous" && (options.maxActiveRuns ?? 1) > 1) {
    report(`maxActiveRuns must be 1 with @continuous, got ${options.maxActiveRuns}`);
  }
  if (schedule.kind !== "none") {
    for (const param of params.required) {
      report(`param "${param}" has no default, and nobody is there to give it when the schedule starts a run`);
    }
  }
  // Only valid dates have an ISO form; what was found to be wrong has been reported.
  const iso = (value: unknown): string | undefined =>
    date(value) === undefined ? (value as Date).toISOString() : undefined;
  const [startDate, endDate] = [iso(options.startDate), iso(options.endDate)];
  if (startDate !== undefined && endDate !== undefined && endDate < startDate) {
    report(`endDate ${endDate} lies before startDate ${startDate}`);
  }
  return {
    schedule,
    catchup,
    tags: Array.isArray(options.tags) ? [...new Set(options.tags)] : [],
    failFast: options.failFast ?? false,
    renderTemplateAsNativeObj: options.renderTemplateAsNativeObj ?? false,
    disableBundleVersioning: options.disableBundleVersioning ?? false,
    params: params.defaults,
    ...(Object.keys(params.specs).length > 0 ? { paramSpecs: params.specs } : {}),
    callbacks: (["onSuccess", "onFailure"] as const).filter((key) => [options[key] ?? []].flat().length > 0),
    ...present({
      timezone: options.timezone,
      description: options.description,
      dagDisplayName: options.dagDisplayName,
      docMd: options.docMd,
      startDate,
      endDate,
      maxActiveTasks: options.maxActiveTasks,
      maxActiveRuns: options.maxActiveRuns ?? (schedule.kind === "continuous" ? 1 : undefined),
      maxConsecutiveFailedDagRuns: options.maxConsecutiveFailedDagRuns,
      dagrunTimeout: options.dagrunTimeout,
      isPausedUponCreation: options.isPausedUponCreation,
    }),
  };
}
