import type { DagWarningRow, ImportErrorRow, JobRow, PoolRow } from "@millrace/shared/db";
import type { DagWarning, ImportError, Job, Pool } from "../types/index.ts";
import { instant } from "./present-dag.ts";

export const presentImportError = (error: ImportErrorRow): ImportError => ({
  import_error_id: error.id,
  timestamp: error.timestamp.toISOString(),
  filename: error.filename,
  bundle_name: error.bundleName,
  stack_trace: error.stacktrace,
});

export const presentDagWarning = (warning: DagWarningRow): DagWarning => ({
  dag_id: warning.dagId,
  dag_display_name: warning.dagDisplayName ?? warning.dagId,
  warning_type: warning.warningType,
  message: warning.message,
  timestamp: warning.timestamp.toISOString(),
});

export const presentPool = (pool: PoolRow): Pool => ({
  name: pool.pool,
  slots: pool.slots,
  description: pool.description,
  include_deferred: pool.includeDeferred,
  occupied_slots: pool.occupiedSlots,
  running_slots: pool.runningSlots,
  queued_slots: pool.queuedSlots,
  scheduled_slots: pool.scheduledSlots,
  open_slots: pool.openSlots,
  deferred_slots: pool.deferredSlots,
  team_name: null,
});

export const presentJob = (job: JobRow): Job => ({
  id: job.id,
  dag_id: job.dagId,
  state: job.state,
  job_type: job.jobType,
  start_date: instant(job.startDate),
  end_date: instant(job.endDate),
  latest_heartbeat: instant(job.latestHeartbeat),
  executor_class: job.executorClass,
  hostname: job.hostname,
  unixname: job.unixname,
  dag_display_name: job.dagId,
});
