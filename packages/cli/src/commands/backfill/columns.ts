import type { BackfillRow } from "@millrace/shared/db";
import type { Column } from "../../output/format.ts";

export const stateOf = (backfill: BackfillRow): string => {
  if (backfill.planError !== null) return "failed";
  if (backfill.completedAt !== null) return backfill.isPaused ? "cancelled" : "completed";
  return backfill.isPaused ? "paused" : "active";
};

export const BACKFILL_COLUMNS: readonly Column<BackfillRow>[] = [
  { key: "id", value: (b) => b.id },
  { key: "dag_id", value: (b) => b.dagId },
  { key: "state", value: stateOf },
  { key: "from_date", value: (b) => b.fromDate },
  { key: "to_date", value: (b) => b.toDate },
  { key: "reprocess_behavior", value: (b) => b.reprocessBehavior, for: "programs" },
  { key: "max_active_runs", value: (b) => b.maxActiveRuns, for: "programs" },
  { key: "run_backwards", value: (b) => b.runBackwards, for: "programs" },
  { key: "dag_run_conf", value: (b) => b.dagRunConf, for: "programs" },
  { key: "total", value: (b) => b.total },
  { key: "done", value: (b) => b.success },
  { key: "failed", value: (b) => b.failed },
  { key: "running", value: (b) => b.running },
  { key: "left", value: (b) => b.left },
  { key: "skipped", value: (b) => b.skipped },
  { key: "rate", value: (b) => b.rate, for: "programs" },
  { key: "created_at", value: (b) => b.createdAt, for: "programs" },
  { key: "completed_at", value: (b) => b.completedAt, for: "programs" },
  { key: "is_planned", value: (b) => b.isPlanned, for: "programs" },
  { key: "plan_error", value: (b) => b.planError, for: "programs" },
  { key: "triggering_user_name", value: (b) => b.triggeringUserName, for: "programs" },
];
