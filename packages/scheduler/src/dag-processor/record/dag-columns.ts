import { createHash } from "node:crypto";
import type { DagSpec, Json, ScheduleSpec } from "@millrace/sdk/spec";
import type { Config } from "@millrace/shared/config";
import { summarizeSchedule } from "@millrace/shared/model";

export interface DagColumns {
  readonly dag_id: string;
  /** Of a dag that is new; later the row keeps its own. */
  readonly is_paused: boolean;
  readonly owners: string;
  readonly dag_display_name: string | null;
  readonly description: string | null;
  readonly timetable_type: string;
  readonly timetable_summary: string;
  readonly timetable_description: string;
  readonly max_active_tasks: number;
  readonly max_active_runs: number;
  readonly max_consecutive_failed_dag_runs: number;
  readonly has_task_concurrency_limits: boolean;
  readonly fail_fast: boolean;
  readonly timetable_partitioned: boolean;
}

const isPartitioned = ({ schedule }: DagSpec): boolean =>
  schedule.kind === "assets" && schedule.partition !== undefined;

/** Airflow's names, by which dashboards tell kinds of schedules apart. */
const TIMETABLES: Readonly<Record<ScheduleSpec["kind"], { readonly type: string; readonly words: string }>> = {
  none: { type: "NullTimetable", words: "Never, external triggers only" },
  cron: { type: "CronDataIntervalTimetable", words: "" },
  cronTrigger: { type: "CronTriggerTimetable", words: "" },
  multipleCron: { type: "MultipleCronTriggerTimetable", words: "" },
  events: { type: "EventsTimetable", words: "" },
  custom: { type: "", words: "" },
  assets: { type: "AssetTriggeredTimetable", words: "Triggered by assets" },
  assetOrTime: { type: "AssetOrTimeSchedule", words: "Triggered by assets, or by time" },
  delta: { type: "DeltaDataIntervalTimetable", words: "" },
  once: { type: "OnceTimetable", words: "Once, as soon as possible" },
  continuous: { type: "ContinuousTimetable", words: "As frequently as possible, but only one run at a time" },
};

export function dagColumns(spec: DagSpec, core: Config["core"]): DagColumns {
  const timetable = TIMETABLES[spec.schedule.kind];
  return {
    dag_id: spec.dagId,
    is_paused:
      spec.isPausedUponCreation ??
      (core.unpaused_at_creation.includes(spec.dagId) ? false : core.dags_are_paused_at_creation),
    owners: spec.owners.join(", "),
    dag_display_name: spec.dagDisplayName ?? null,
    description: spec.description ?? null,
    timetable_type:
      spec.schedule.kind === "custom"
        ? spec.schedule.name
        : isPartitioned(spec)
          ? "PartitionedAssetTimetable"
          : timetable.type,
    timetable_summary: summarizeSchedule(spec.schedule),
    timetable_description: timetable.words,
    max_active_tasks: spec.maxActiveTasks ?? core.max_active_tasks_per_dag,
    max_active_runs: spec.schedule.kind === "continuous" ? 1 : (spec.maxActiveRuns ?? core.max_active_runs_per_dag),
    max_consecutive_failed_dag_runs: spec.maxConsecutiveFailedDagRuns ?? 0,
    has_task_concurrency_limits: spec.tasks.some(
      (task) => task.maxActiveTisPerDag !== undefined || task.maxActiveTisPerDagrun !== undefined,
    ),
    fail_fast: spec.failFast,
    timetable_partitioned: isPartitioned(spec),
  };
}

/** The same for specs that say the same, in whatever order their keys are. */
export const dagHash = (spec: DagSpec): string =>
  createHash("sha256")
    .update(JSON.stringify(sorted(spec as unknown as Json)))
    .digest("hex"); // a spec is JSON

function sorted(value: Json): Json {
  if (Array.isArray(value)) return value.map(sorted);
  if (value === null || typeof value !== "object") return value;
  return Object.fromEntries(
    Object.entries(value)
      .sort(([a], [b]) => (a < b ? -1 : 1))
      .map(([key, inner]) => [key, sorted(inner)]),
  );
}
