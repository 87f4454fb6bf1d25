import type { TaskOptions } from "./task-options.ts";
import type { Catchup, Json } from "../spec/index.ts";
import type { AssetCondition, AssetOrTime, PartitionedAssets } from "../assets/conditions.ts";
import type { DeclaredSchedule } from "./schedules.ts";
import type { StandardSchema } from "./standard-schema.ts";
import type { Timetable } from "./timetable.ts";

/** The schedules with a name. `@continuous` starts the next run as soon as the last one ended. */
export const SCHEDULE_PRESETS = [
  "@once",
  "@hourly",
  "@daily",
  "@weekly",
  "@monthly",
  "@quarterly",
  "@yearly",
  "@continuous",
] as const;
/** One of {@link SCHEDULE_PRESETS}. The timed ones mean a cron expression in the DAG's zone, `@weekly` beginning on Sunday. */
export type SchedulePreset = (typeof SCHEDULE_PRESETS)[number];

/**
 * A preset, a cron expression, what `cron`, `cronTrigger`, `multipleCron`, `every` or `events` return, a {@link Timetable}
 * of your own, assets (one, an array of which all have to come, or what `allOf`, `anyOf`, `assetOrTime` or
 * `partitionedAssets` return), or `null` for runs by hand only.
 */
// `string & {}` keeps the presets in the editor's completion.
export type Schedule =
  | SchedulePreset
  | (string & {})
  | DeclaredSchedule
  | Timetable
  | AssetCondition
  | readonly AssetCondition[]
  | AssetOrTime
  | PartitionedAssets
  | null;

/** A param with more than a value. Without `default` it has to be given by whoever starts the run. */
export interface Param {
  /** Taken when the run is started without a value. */
  readonly default?: Json;
  /** Shown in the form that starts a run. */
  readonly description?: string;
  /** A JSON Schema of the value. */
  readonly schema?: Readonly<Record<string, Json>>;
}

/** What a DAG's callback is told. */
export interface DagCallbackEvent {
  readonly dagId: string;
  readonly runId: string;
  /** `success` or `failed`, unless the run was changed since. */
  readonly state: string;
  /**
   * Why the run ended, in Airflow's words: `success`, `task_failure`, `all_tasks_deadlocked`, `timed_out`; or `marked`
   * when somebody set its state.
   */
  readonly reason: string;
  /** Names this event. A callback runs at least once: what has to happen once is done under this key. */
  readonly key: string;
}

/**
 * Runs after the verdict on a run, in a process of a worker, at least once. Its return value is ignored; what it throws
 * is logged. `getContext()` and `getClient()` work in it; the context's `taskId` is empty.
 */
export type DagCallback = (event: DagCallbackEvent) => unknown;

/** The options of a DAG, with Airflow's names and defaults. Durations are seconds. */
export interface DagOptions {
  /** When runs start by themselves. @default null */
  readonly schedule?: Schedule;
  /** The IANA zone in which crons that name none are read, and in which times are shown. @default "UTC" */
  readonly timezone?: string;
  /** One line, shown beside the name. */
  readonly description?: string;
  /** The first logical date. Required with `catchup: true`. */
  readonly startDate?: Date;
  /** The last logical date. */
  readonly endDate?: Date;
  /** For filtering; 1 to 100 characters each. */
  readonly tags?: readonly string[];
  /** The name to show instead of the id. */
  readonly dagDisplayName?: string;
  /** Documentation in Markdown, shown in the UI. */
  readonly docMd?: string;
  /** The most tasks of this DAG that are active at once, across its runs. @default the installation's */
  readonly maxActiveTasks?: number;
  /** The most runs that are active at once. @default the installation's; 1 with `@continuous` */
  readonly maxActiveRuns?: number;
  /** Pause the DAG after this many failed runs in a row; 0 means never. @default the installation's */
  readonly maxConsecutiveFailedDagRuns?: number;
  /** Seconds after which a running run fails. @default no limit */
  readonly dagrunTimeout?: number;
  /** Which missed intervals to run: all (`true`), the latest (`false`), or none (`"none"`). @default false */
  readonly catchup?: Catchup;
  /** Fail the run and stop its tasks as soon as one task failed. All tasks must then use `all_success`. @default false */
  readonly failFast?: boolean;
  /** Let templates produce values instead of text. @default false */
  readonly renderTemplateAsNativeObj?: boolean;
  /** Whether the DAG is paused when it is first seen. @default the installation's */
  readonly isPausedUponCreation?: boolean;
  /**
   * Run on the newest code, instead of pinning each run to the version it was created with: runs that are not over go on
   * with every new version, whose new tasks they get and whose missing ones are `removed`. What has ended stays as it was
   * run; what a worker has at that moment ends, retries included, with the code it began with. @default false
   */
  readonly disableBundleVersioning?: boolean;
  /** The queue of every task that names none. @default "default" */
  readonly queue?: string;
  /**
   * Named values that a run can be started with: each a plain default, a {@link Param} (with `default` or `schema`), or a
   * validator of the Standard Schema (Zod, Valibot, ArkType, …); or one such validator for all of them. A value that does
   * not fit is refused when a run is asked for, as far as JSON Schema can say it, and again before each task starts, as in
   * Airflow. With a schedule every param needs a default.
   */
  readonly params?: Readonly<Record<string, Json | Param | StandardSchema>> | StandardSchema;
  /** Called when a run succeeded. */
  readonly onSuccess?: DagCallback | readonly DagCallback[];
  /** Called when a run failed. */
  readonly onFailure?: DagCallback | readonly DagCallback[];
}

/** The options of a task group. */
export interface TaskGroupOptions {
  /** Shown in the graph when the pointer rests on the group. */
  readonly tooltip?: string;
  /** Options of every task in the group, and in the groups inside it, that does not say otherwise. Airflow's `default_args`. */
  readonly defaults?: Omit<TaskOptions, "taskId" | "triggerRule">;
}
