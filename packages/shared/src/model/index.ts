export * from "./admission.ts";
export * from "./asset-condition.ts";
export * from "./backfill.ts";
export { sayCause, type Cause, type WatchedTask } from "./cause.ts";
export * from "./conditions.ts";
export { buildDagGraph, DEFAULT_MAX_MAP_LENGTH, type DagGraph, type TaskNode } from "./dag-graph.ts";
export * from "./decide-changes.ts";
export * from "./decide-run.ts";
export * from "./decide-task.ts";
export * from "./explain-callbacks.ts";
export * from "./explain-dag.ts";
export * from "./explain.ts";
export * from "./fail-fast.ts";
export { runLane } from "./lane.ts";
export { listKey, mappedOver, mapLength, sourcesOf, type Expansion, type ListLength } from "./mapping.ts";
export * from "./mapped-arguments.ts";
export * from "./partition-key.ts";
export * from "./past.ts";
export { isOwed, pointerAfterChange, type DagChange } from "./plan-change.ts";
export * from "./plan-runs.ts";
export * from "./preview-runs.ts";
export { summarizePreview } from "./summarize-preview.ts";
export * from "./retry.ts";
export { canStart } from "./can-start.ts";
export * from "./run-state.ts";
export { viewOf } from "./run-view.ts";
export * from "./select-tasks.ts";
export { followIndexes, type MapIndexes } from "./follow-indexes.ts";
export * from "./task-state.ts";
export { clockRemarks, localTime, zoneOf } from "./timetable/clock-remarks.ts";
export { cronTicks, type CronTicks } from "./timetable/cron-ticks.ts";
export { manualIntervalOf, newPlan, resumePlan, withoutCreated, type CustomPlan } from "./timetable/custom-plan.ts";
export { inferManualInterval } from "./timetable/infer-interval.ts";
export {
  isLatestInterval,
  planNextRun,
  type Interval,
  type PlannedRun,
  type PlanRequest,
} from "./timetable/next-run.ts";
export { runsBetween, type RunRange } from "./timetable/runs-between.ts";
export { sayCondition, summarizeSchedule } from "./timetable/summarize-schedule.ts";
export { timeOf } from "./timetable/trigger-ticks.ts";
export * from "./trigger-rule.ts";
export { uuidv7 } from "./uuid.ts";
