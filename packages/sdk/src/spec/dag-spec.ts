// The DAG as data: what a DAG file says once it has been read, without any of its code.
// Written by Dag.spec(), stored as serialized_dag.data, read by every other room. JSON only.
// Every default is already applied here, so that a reader never needs to know one.
import type { Json } from "./json.ts";

export const TRIGGER_RULES = [
  "all_success",
  "all_failed",
  "all_done",
  "all_skipped",
  "one_success",
  "one_failed",
  "one_done",
  "none_failed",
  "none_failed_min_one_success",
  "none_skipped",
  "always",
  "all_done_setup_success",
  "all_done_min_one_success",
] as const;
export type TriggerRule = (typeof TRIGGER_RULES)[number];

export const WEIGHT_RULES = ["downstream", "upstream", "absolute"] as const;
export type WeightRule = (typeof WEIGHT_RULES)[number];

/** What to do when a local time does not exist (gap) or exists twice (fold). */
export interface DstPolicy {
  readonly gap: "shift" | "skip";
  readonly fold: "first" | "last" | "both";
}

/** How the fields of a cron expression are read: in which zone, and how around its clock changes. */
export interface CronReading {
  readonly timezone: string;
  readonly dst: DstPolicy;
}

/** Schedules that time alone decides. */
export type TimeScheduleSpec =
  | { readonly kind: "none" }
  /** One run for each interval between two ticks; the run starts when its interval ends. */
  | ({ readonly kind: "cron"; readonly cron: string } & CronReading)
  /** One run at each tick, with the interval of that length before it; without one its interval is empty. */
  | ({ readonly kind: "cronTrigger"; readonly cron: string; readonly intervalSeconds?: number } & CronReading)
  /** One run at each tick of any of them, and one where several meet. */
  | ({
      readonly kind: "multipleCron";
      readonly crons: readonly string[];
      readonly intervalSeconds?: number;
    } & CronReading)
  | { readonly kind: "delta"; readonly seconds: number }
  /** One run at each of these instants, which are ISO texts in ascending order. */
  | {
      readonly kind: "events";
      readonly events: readonly string[];
      /** A manual run stands for the latest event instead of its own time. */
      readonly restrictToEvents: boolean;
      readonly summary?: string;
    }
  | { readonly kind: "once" }
  | { readonly kind: "continuous" }
  /** Code in the DAG's file says when. It is asked ahead, by the dag-processor's child, and its answers are stored. */
  | { readonly kind: "custom"; readonly name: string; readonly summary: string };

export interface AssetSpec {
  readonly name: string;
  readonly uri: string;
  readonly group?: string;
  readonly extra?: Readonly<Record<string, Json>>;
  /** Each event of such a trigger is an event of the asset. */
  readonly watchers?: readonly { readonly name: string; readonly trigger: StartTriggerSpec["trigger"] }[];
}

/** One asset in a schedule, an outlet or an inlet. */
export type AssetUseSpec =
  | { readonly asset: AssetSpec }
  /** One that another file declares; has a name or a uri. */
  | { readonly ref: { readonly name?: string; readonly uri?: string } }
  /** Whatever tasks said at run time that this name stands for. */
  | { readonly alias: { readonly name: string; readonly group: string } };

/** Assets in Airflow's form: one, all of several, or any of several. */
export type AssetConditionSpec =
  AssetUseSpec | { readonly all: readonly AssetConditionSpec[] } | { readonly any: readonly AssetConditionSpec[] };

/** How the partition key of an event becomes that of a run. */
export type PartitionMapperSpec =
  | { readonly kind: "identity" }
  | {
      readonly kind: "startOf";
      readonly unit: "hour" | "day" | "week" | "month" | "quarter" | "year";
      readonly inputFormat?: string;
      readonly outputFormat?: string;
    }
  | { readonly kind: "product"; readonly mappers: readonly PartitionMapperSpec[]; readonly delimiter: string }
  | { readonly kind: "chain"; readonly mappers: readonly PartitionMapperSpec[] }
  | { readonly kind: "allowed"; readonly keys: readonly string[] };

export interface PartitionSpec {
  readonly mapper: PartitionMapperSpec;
  /** For single assets, in place of `mapper`. */
  readonly mappers: readonly { readonly use: AssetUseSpec; readonly mapper: PartitionMapperSpec }[];
}

export type ScheduleSpec =
  | TimeScheduleSpec
  /** One run whenever the assets were updated; with `partition`, one for each key. */
  | { readonly kind: "assets"; readonly assets: AssetConditionSpec; readonly partition?: PartitionSpec }
  /** Runs by time, and one more whenever the assets were updated. */
  | { readonly kind: "assetOrTime"; readonly time: TimeScheduleSpec; readonly assets: AssetConditionSpec };

/** `true`: every interval since the start date; `false`: the latest complete one; `"none"`: the next one. */
export type Catchup = boolean | "none";

/** How one named argument of a handler gets its value. */
export type InputSpec =
  | { readonly kind: "literal"; readonly value: Json }
  /**
   * The return value of another task, or the field of it at `path`. Of a mapped task: the list of the values of its
   * instances, or within a mapped group the value of the same index. `lazy`: that list is read in pages while it is used.
   */
  | { readonly kind: "xcom"; readonly taskId: string; readonly path: readonly string[]; readonly lazy?: boolean }
  /** What the mapped group around the task is mapped over, at the index of the task instance; of it the field at `path`. */
  | { readonly kind: "element"; readonly path: readonly string[] };

/** A list over which something is mapped. */
export type MapSource =
  | { readonly kind: "literal"; readonly values: readonly Json[] }
  /** The list that another task returned, or the one at `path` of its value; of a mapped task the values of its instances. */
  | { readonly kind: "xcom"; readonly taskId: string; readonly path: readonly string[] }
  /** Tuples of what stands at the same place; as long as the shortest, or with `fill` as the longest. */
  | { readonly kind: "zip"; readonly sources: readonly MapSource[]; readonly fill?: Json }
  /** One after the other. */
  | { readonly kind: "concat"; readonly sources: readonly MapSource[] };

/** Into how many instances a task, or each task of a group, is expanded, and what each of them is given. */
export type MappingSpec =
  /** One instance for each combination; the last argument varies fastest. */
  | { readonly kind: "expand"; readonly lists: readonly { readonly name: string; readonly source: MapSource }[] }
  /** One instance for each element, an object of arguments. `strict`: none of them may be among the task's inputs. */
  | { readonly kind: "expandKwargs"; readonly source: MapSource; readonly strict: boolean };

/** A task whose result decides which of its direct downstream tasks go on. */
export type BranchKind = "branch" | "short_circuit";

export interface StartTriggerSpec {
  readonly trigger: {
    readonly name: string;
    readonly kwargs: Readonly<Record<string, Json>>;
    readonly queue?: string;
  };
  readonly onEvent: "resume" | "end";
  readonly timeoutSeconds?: number;
}

/** Airflow's `ExternalTaskMarker`: the task of another DAG that waits for this one, at the same logical date. */
export interface ExternalTaskMarkerSpec {
  readonly dagId: string;
  readonly taskId: string;
  /** How many markers in a row a clear follows. */
  readonly recursionDepth: number;
}

export interface TaskSpec {
  readonly taskId: string;
  /** What the task is: `task` for a plain handler, else the operator's name (`bash`, `empty`, `branch`, …). */
  readonly operator: string;
  /** Task ids directly before this one: from inputs and from order-only edges; sorted, no duplicates. */
  readonly upstream: readonly string[];
  readonly inputs: Readonly<Record<string, InputSpec>>;
  /** The task is mapped: it has one instance for each element. */
  readonly mapping?: MappingSpec;
  /** The mapped group around the task: it has one instance for each element of that. */
  readonly mapGroupId?: string;
  readonly branch?: BranchKind;
  /** The task begins with this wait, before any worker has it. */
  readonly startTrigger?: StartTriggerSpec;
  /** Tasks of other DAGs that a clear of this one clears as well, when it is recursive. */
  readonly externalTaskMarker?: ExternalTaskMarkerSpec;
  /** Only with `branch: "short_circuit"`: skip everything downstream whatever its trigger rule. */
  readonly ignoreDownstreamTriggerRules?: boolean;
  readonly isSetup: boolean;
  readonly isTeardown: boolean;
  readonly onFailureFailDagrun: boolean;
  readonly owner: string;
  /** ISO 8601 in UTC, as every instant in a spec. */
  readonly startDate?: string;
  readonly endDate?: string;
  readonly triggerRule: TriggerRule;
  readonly dependsOnPast: boolean;
  readonly ignoreFirstDependsOnPast: boolean;
  readonly waitForPastDependsBeforeSkipping: boolean;
  readonly waitForDownstream: boolean;
  readonly retries: number;
  /** Re-runs granted after a lost worker to a task with `retries: 0`. Default 0. */
  readonly infraRetries: number;
  readonly queue: string;
  readonly pool: string;
  readonly poolSlots: number;
  /** Seconds, as every duration in a spec. */
  readonly executionTimeout?: number;
  readonly retryDelay: number;
  /** 0 switches backoff off; otherwise the factor by which each delay grows. */
  readonly retryExponentialBackoff: number;
  readonly maxRetryDelay?: number;
  readonly priorityWeight: number;
  readonly weightRule: WeightRule;
  readonly executor?: string;
  readonly doXcomPush: boolean;
  readonly returnsDagResult: boolean;
  readonly docMd?: string;
  readonly mapIndexTemplate?: string;
  readonly maxActiveTisPerDag?: number;
  readonly maxActiveTisPerDagrun?: number;
  readonly taskDisplayName?: string;
  /** What a success of the task updates: each is an event. */
  readonly outlets?: readonly AssetUseSpec[];
  /** What the task reads: shown, and at hand in the handler. */
  readonly inlets?: readonly AssetUseSpec[];
  /** Which callbacks the task has; their code stays in the artifact. */
  readonly callbacks: readonly ("onExecute" | "onSuccess" | "onFailure" | "onRetry" | "onSkipped")[];
}

export interface TaskGroupSpec {
  /** Full id, prefixed with those of the groups around it: `outer.inner`. */
  readonly groupId: string;
  readonly parentGroupId?: string;
  readonly tooltip?: string;
  /** Every task in it has one instance for each element. */
  readonly mapping?: MappingSpec;
}

export interface ParamSpec {
  /** A JSON Schema, of draft 7. */
  readonly schema?: Readonly<Record<string, Json>>;
  readonly description?: string;
  /** There is no default: whoever starts a run has to give it. */
  readonly required?: true;
}

/**
 * How DAGs are written down. Raised with what a process that does not know it would decide wrongly; a DAG that says such a
 * thing names it in `format`, and processes that are older leave its runs to those that know it.
 */
export const SPEC_FORMAT = 1;

export interface DagSpec {
  /** The least SPEC_FORMAT that a reader has to know. 1 when left out. */
  readonly format?: number;
  readonly dagId: string;
  readonly description?: string;
  readonly dagDisplayName?: string;
  readonly docMd?: string;
  readonly schedule: ScheduleSpec;
  /** In which its crons are read that name none, and its times are shown. UTC when left out. */
  readonly timezone?: string;
  readonly startDate?: string;
  readonly endDate?: string;
  readonly catchup: Catchup;
  readonly tags: readonly string[];
  readonly owners: readonly string[];
  readonly maxActiveTasks?: number;
  readonly maxActiveRuns?: number;
  readonly maxConsecutiveFailedDagRuns?: number;
  readonly dagrunTimeout?: number;
  readonly failFast: boolean;
  readonly renderTemplateAsNativeObj: boolean;
  readonly isPausedUponCreation?: boolean;
  readonly disableBundleVersioning: boolean;
  /** Their defaults. */
  readonly params: Readonly<Record<string, Json>>;
  /** What is known of each beside its default; for forms, and for checks before a run starts. */
  readonly paramSpecs?: Readonly<Record<string, ParamSpec>>;
  readonly callbacks: readonly ("onSuccess" | "onFailure")[];
  readonly groups: readonly TaskGroupSpec[];
  /** In the order in which the file declares them. */
  readonly tasks: readonly TaskSpec[];
}
