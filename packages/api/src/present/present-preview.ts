import type { DagPreview as PreviewRow } from "@millrace/shared/db";
import { summarizePreview, summarizeSchedule, type PreviewedRun as RunRow } from "@millrace/shared/model";
import type { DagPreview, PreviewedRun } from "../types/index.ts";

const iso = (instant: number): string => new Date(instant).toISOString();

export const presentPreview = (preview: PreviewRow): DagPreview => ({
  dag_id: preview.dagId,
  summary: summarizePreview(preview),
  timetable_summary: summarizeSchedule(preview.schedule),
  timezone: preview.timezone,
  catchup: preview.catchup,
  max_active_runs: preview.maxActiveRuns,
  is_paused: preview.isPaused,
  is_held: preview.isHeld,
  now: preview.now.toISOString(),
  from: preview.from?.toISOString() ?? null,
  to: preview.until.toISOString(),
  total: preview.total,
  due: preview.due,
  earlier: preview.earlier,
  is_complete: preview.isComplete,
  remarks: [...preview.remarks],
  runs: preview.runs.map(presentPreviewedRun),
});

export const presentPreviewedRun = ({ runId, run, local, isDue, isCreated, remarks }: RunRow): PreviewedRun => ({
  dag_run_id: runId,
  logical_date: iso(run.logicalDate),
  data_interval_start: iso(run.interval.start),
  data_interval_end: iso(run.interval.end),
  run_after: iso(run.runAfter),
  local: {
    logical_date: local.logicalDate,
    data_interval_start: local.start,
    data_interval_end: local.end,
    run_after: local.runAfter,
  },
  is_due: isDue,
  is_created: isCreated,
  remarks: [...remarks],
});
