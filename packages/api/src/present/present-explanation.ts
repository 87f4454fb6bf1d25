import type { DagExplanation, RunExplanation, TaskExplanation } from "@millrace/shared/db";
import { describeCondition, isFinished, type Condition } from "@millrace/shared/model";
import type * as answers from "../types/index.ts";
import { instant } from "./present-dag.ts";

/** Airflow's names of dependencies; what it does not know has our own. */
const NAMES: Readonly<Partial<Record<Condition["kind"], string>>> = {
  trigger_rule: "Trigger Rule",
  setup: "Trigger Rule",
  teardown_scope: "Trigger Rule",
  branch_not_taken: "Not Previously Skipped",
  cut_short: "Not Previously Skipped",
  depends_on_past: "Previous Dagrun State",
  retry_delay: "Not In Retry Period",
  poke_delay: "Ready To Reschedule",
  dag_paused: "Dag Not Paused",
  run_queued_behind: "Dagrun Running",
  backfill_paused: "Backfill Not Paused",
  backfill_queued_behind: "Dagrun Running",
  run_after_in_future: "Execution Date",
  run_finished: "Dagrun Running",
  pool_full: "Pool Slots Available",
  pool_missing: "Pool Slots Available",
  pool_too_small: "Pool Slots Available",
  max_active_tasks: "DAG Runnable Slots",
  max_active_tis_per_dag: "Task Concurrency",
  max_active_tis_per_dagrun: "Task Concurrency",
};

const HELD: readonly string[] = ["running", "restarting", "shutdown"];

export const presentDependencies = (found: TaskExplanation): answers.Dependencies => ({
  dependencies:
    isFinished(found.state) || HELD.includes(found.state)
      ? []
      : found.conditions.map((condition) => ({
          name: NAMES[condition.kind] ?? wordsOf(condition.kind),
          reason: describeCondition(condition),
        })),
  explanation: {
    ...presentTask(found),
    holders: found.holders.map((holder) => ({
      dag_id: holder.dagId,
      dag_run_id: holder.runId,
      task_id: holder.taskId,
      map_index: holder.mapIndex,
      state: holder.state,
      slots: holder.slots,
      since: instant(holder.since),
    })),
  },
});

export const presentDagExplanation = (found: DagExplanation): answers.DagExplanation => ({
  dag_id: found.dagId,
  is_paused: found.isPaused,
  earliest: instant(found.earliest),
  conditions: present(found.conditions),
});

export const presentRunExplanation = (found: RunExplanation): answers.RunExplanation => ({
  dag_id: found.dagId,
  dag_run_id: found.runId,
  ...presentReasons(found),
  tasks: found.tasks.map(presentTask),
});

type Explained = Pick<TaskExplanation | RunExplanation, "state" | "since" | "earliest" | "conditions">;

const presentTask = (found: Omit<TaskExplanation, "holders">) => ({
  task_id: found.taskId,
  map_index: found.mapIndex,
  ...presentReasons(found),
});

const presentReasons = ({ state, since, earliest, conditions }: Explained) => ({
  state: state === "none" ? null : state,
  since: instant(since),
  earliest: instant(earliest),
  conditions: present(conditions),
});

const present = (conditions: readonly Condition[]) =>
  conditions.map((condition) => ({ ...condition, text: describeCondition(condition) }));

/** `no_live_scheduler` → `No Live Scheduler` */
const wordsOf = (kind: string): string =>
  kind.replaceAll("_", " ").replace(/\b[a-z]/g, (letter) => letter.toUpperCase());
