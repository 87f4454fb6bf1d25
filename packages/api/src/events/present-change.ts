import type { RunChange, TaskChange } from "@millrace/shared/db";
import { instant } from "../present/present-dag.ts";
import type { RunEvent, TaskEvent } from "../types/events.ts";

export const presentRunChange = (run: RunChange): RunEvent => ({
  dag_id: run.dagId,
  dag_run_id: run.runId,
  run_type: run.runType,
  state: run.state,
  run_after: run.runAfter.toISOString(),
  logical_date: instant(run.logicalDate),
  start_date: instant(run.startDate),
  end_date: instant(run.endDate),
});

export const presentTaskChange = (task: TaskChange): TaskEvent => ({
  dag_id: task.dagId,
  dag_run_id: task.runId,
  task_id: task.taskId,
  map_index: task.mapIndex,
  state: task.state === "none" ? null : task.state,
  try_number: task.tryNumber,
  start_date: instant(task.startDate),
  end_date: instant(task.endDate),
  duration: task.duration,
});
