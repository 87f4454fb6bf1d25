import type { DagSpec } from "@millrace/sdk/spec";
import type { GridColumn, RunRow } from "@millrace/shared/db";
import type { DagRun, Grid } from "../types/index.ts";
import { instant, presentVersion } from "./present-dag.ts";

export function presentRun(run: RunRow): DagRun {
  const { createdDagVersionId: id, versionNumber, versionCreatedAt } = run;
  return {
    dag_run_id: run.runId,
    dag_id: run.dagId,
    logical_date: instant(run.logicalDate),
    queued_at: instant(run.queuedAt),
    start_date: instant(run.startDate),
    end_date: instant(run.endDate),
    duration: run.duration,
    data_interval_start: instant(run.dataIntervalStart),
    data_interval_end: instant(run.dataIntervalEnd),
    run_after: run.runAfter.toISOString(),
    last_scheduling_decision: instant(run.lastSchedulingDecision),
    run_type: run.runType,
    state: run.state,
    triggered_by: run.triggeredBy?.toLowerCase() ?? null,
    triggering_user_name: run.triggeringUserName,
    conf: run.conf,
    note: run.note,
    dag_versions:
      id === null || versionNumber === null || versionCreatedAt === null
        ? []
        : [presentVersion({ id, versionNumber, dagId: run.dagId, createdAt: versionCreatedAt }, run.dagDisplayName)],
    bundle_version: run.bundleVersion,
    dag_display_name: run.dagDisplayName,
    partition_key: run.partitionKey,
  };
}

export function presentGrid(spec: DagSpec, runs: readonly RunRow[], columns: readonly GridColumn[]): Grid {
  const byRun = new Map(columns.map((column) => [column.runId, statesOf(column)]));
  return {
    dag_id: spec.dagId,
    nodes: spec.tasks.map((task) => ({
      task_id: task.taskId,
      task_display_name: task.taskDisplayName ?? task.taskId,
      operator: task.operator,
      upstream: [...task.upstream],
      trigger_rule: task.triggerRule,
      is_mapped: task.mapping !== undefined || task.mapGroupId !== undefined,
    })),
    runs: runs.map((run) => ({
      dag_run_id: run.runId,
      run_type: run.runType,
      state: run.state,
      run_after: run.runAfter.toISOString(),
      logical_date: instant(run.logicalDate),
      start_date: instant(run.startDate),
      end_date: instant(run.endDate),
      states: spec.tasks.map((task) => byRun.get(run.runId)?.get(task.taskId) ?? null),
    })),
  };
}

/** A task of one task instance is its state alone: most are, and a grid has fifty thousand of them. */
function statesOf(column: GridColumn): Map<string, string | Record<string, number>> {
  const states = new Map<string, string | Record<string, number>>();
  for (const [taskId, state, count] of column.cells) {
    const before = states.get(taskId);
    if (before === undefined && count === 1) states.set(taskId, state);
    else states.set(taskId, { ...(typeof before === "string" ? { [before]: 1 } : before), [state]: count });
  }
  return states;
}
