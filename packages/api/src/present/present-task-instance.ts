import type { TaskInstanceRow, XComRow } from "@millrace/shared/db";
import type { TaskInstance, XComEntry } from "../types/index.ts";
import { instant, presentVersion } from "./present-dag.ts";

export function presentTaskInstance(ti: TaskInstanceRow): TaskInstance {
  const { dagVersionId: id, versionNumber, versionCreatedAt } = ti;
  return {
    id: ti.id,
    task_id: ti.taskId,
    dag_id: ti.dagId,
    dag_run_id: ti.runId,
    map_index: ti.mapIndex,
    logical_date: instant(ti.logicalDate),
    run_after: ti.runAfter.toISOString(),
    start_date: instant(ti.startDate),
    end_date: instant(ti.endDate),
    duration: ti.duration,
    state: ti.state === "none" ? null : ti.state,
    try_number: ti.tryNumber,
    max_tries: ti.maxTries,
    task_display_name: ti.taskDisplayName,
    dag_display_name: ti.dagDisplayName,
    hostname: ti.hostname,
    unixname: ti.unixname,
    pool: ti.pool,
    pool_slots: ti.poolSlots,
    queue: ti.queue,
    priority_weight: ti.priorityWeight,
    operator: ti.operator,
    operator_name: ti.operator,
    queued_when: instant(ti.queuedDttm),
    scheduled_when: instant(ti.scheduledDttm),
    pid: ti.pid,
    executor: ti.executor,
    executor_config: "{}",
    note: null,
    rendered_map_index: ti.renderedMapIndex,
    rendered_fields: ti.renderedFields,
    trigger: null,
    triggerer_job: null,
    dag_version:
      id === null || versionNumber === null || versionCreatedAt === null
        ? null
        : presentVersion({ id, versionNumber, dagId: ti.dagId, createdAt: versionCreatedAt }, ti.dagDisplayName),
  };
}

export const presentXCom = (xcom: XComRow): XComEntry => ({
  key: xcom.key,
  timestamp: xcom.timestamp.toISOString(),
  logical_date: instant(xcom.logicalDate),
  map_index: xcom.mapIndex,
  task_id: xcom.taskId,
  dag_id: xcom.dagId,
  run_id: xcom.runId,
  dag_display_name: xcom.dagDisplayName,
  task_display_name: xcom.taskId,
  run_after: xcom.runAfter.toISOString(),
});
