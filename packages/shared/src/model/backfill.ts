// Which dates a backfill is about, what becomes of each, and what it is refused for. Pure.
import type { DagSpec } from "@millrace/sdk/spec";
import type { RunState } from "./run-state.ts";
import type { PlannedRun } from "./timetable/next-run.ts";
import { runsBetween } from "./timetable/runs-between.ts";
import { timeOf } from "./timetable/trigger-ticks.ts";

/** Which runs that exist are run again: none, those that failed, or all that have ended. */
export const REPROCESS_BEHAVIORS = ["none", "failed", "completed"] as const;
export type ReprocessBehavior = (typeof REPROCESS_BEHAVIORS)[number];

/** Why a date of a backfill got no run of it; Airflow's words, and `cancelled` for those that had not come to it. */
export const EXCEPTION_REASONS = ["in flight", "already exists", "unknown", "cancelled"] as const;
export type ExceptionReason = (typeof EXCEPTION_REASONS)[number];

export type DateVerdict = "create" | "reprocess" | "in flight" | "already exists";

/** @param existing state of the scheduled or backfill run of that date */
export function judgeDate(existing: RunState | undefined, behavior: ReprocessBehavior): DateVerdict {
  if (existing === undefined) return "create";
  if (existing === "queued" || existing === "running") return "in flight";
  if (behavior === "completed" || (behavior === "failed" && existing === "failed")) return "reprocess";
  return "already exists";
}

export interface BackfillRange {
  readonly from: number;
  readonly to: number;
  readonly now: number;
  /** The end of the newest scheduled interval: dates of a delta fall in with those that there are. */
  readonly anchor: number | undefined;
}

/**
 * The dates of a range whose interval is over, the oldest first.
 * @throws AppError SCHEDULE_INVALID, also for a custom timetable, whose code cannot be asked here.
 */
export function* datesOfBackfill(spec: DagSpec, { from, to, now, anchor }: BackfillRange): Generator<PlannedRun, void> {
  const range = { from, to: Math.min(to, now), ...(anchor === undefined ? {} : { anchor }) };
  for (const run of runsBetween(spec.schedule, range)) if (run.runAfter <= now) yield run;
}

export type BackfillRefusal =
  | { readonly kind: "no_schedule" }
  | { readonly kind: "range"; readonly cause: string }
  | { readonly kind: "order"; readonly tasks: readonly string[]; readonly cause: string };

export interface BackfillWish {
  readonly from: number;
  readonly to: number;
  readonly now: number;
  readonly runBackwards: boolean;
  readonly reprocessBehavior: ReprocessBehavior;
}

/** What forbids a backfill whatever runs there are; undefined when nothing does. */
export function refuseBackfill(spec: DagSpec, wish: BackfillWish): BackfillRefusal | undefined {
  const { kind } = timeOf(spec.schedule);
  if (kind === "none" || kind === "once" || kind === "continuous") return { kind: "no_schedule" };
  const day = (instant: number) => new Date(instant).toISOString();
  if (wish.from > wish.to) {
    return { kind: "range", cause: `it begins at ${day(wish.from)}, after its end at ${day(wish.to)}` };
  }
  if (wish.from >= wish.now) {
    return {
      kind: "range",
      cause: `it begins at ${day(wish.from)}, in the future: what is to come is for the schedule`,
    };
  }
  const tasks = spec.tasks.filter((task) => task.dependsOnPast || task.waitForDownstream).map((task) => task.taskId);
  if (tasks.length === 0) return undefined;
  if (wish.runBackwards) return { kind: "order", tasks, cause: "it cannot run backwards" };
  // A date that is left out could be one that its successor waits for, for ever.
  if (wish.reprocessBehavior === "none") {
    return { kind: "order", tasks, cause: "it must run failed or completed dates again (reprocessing behavior)" };
  }
  return undefined;
}
