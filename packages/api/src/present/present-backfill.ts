import { secondsLeft, type BackfillRow } from "@millrace/shared/db";
import type { Backfill } from "../types/index.ts";
import { instant } from "./present-dag.ts";

export const presentBackfill = (backfill: BackfillRow): Backfill => ({
  id: backfill.id,
  dag_id: backfill.dagId,
  from_date: backfill.fromDate.toISOString(),
  to_date: backfill.toDate.toISOString(),
  dag_run_conf: backfill.dagRunConf,
  is_paused: backfill.isPaused,
  reprocess_behavior: backfill.reprocessBehavior,
  max_active_runs: backfill.maxActiveRuns,
  created_at: backfill.createdAt.toISOString(),
  completed_at: instant(backfill.completedAt),
  updated_at: backfill.updatedAt.toISOString(),
  dag_display_name: backfill.dagDisplayName,
  run_backwards: backfill.runBackwards,
  is_planned: backfill.isPlanned,
  plan_error: backfill.planError,
  progress: {
    total: backfill.total,
    success: backfill.success,
    failed: backfill.failed,
    running: backfill.running,
    queued: backfill.queued,
    pending: backfill.pending,
    skipped: backfill.skipped,
    left: backfill.left,
    eta_seconds: secondsLeft(backfill),
  },
});
