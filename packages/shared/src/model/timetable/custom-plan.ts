// What is known of a schedule that is code of its DAG's file: the answers that its code gave ahead. The processor that asked
// stores them, whoever creates runs takes them from the front, and the code is asked again when few are left.
import type { Catchup } from "@millrace/sdk/spec";
import type { Interval, PlannedRun } from "./next-run.ts";

export interface CustomPlan {
  /** In the order of time; the first is the DAG's next run. */
  readonly runs: readonly PlannedRun[];
  /** What a manual run from an instant on stands for, in the order of time. */
  readonly manual: readonly { readonly at: number; readonly interval: Interval }[];
  /** The schedule has no further run after these. */
  readonly ended: boolean;
  /** The moment as of which the next question is asked; null for the present. */
  readonly askedUntil: number | null;
}

/** Asked from the beginning, after the runs that are owed all the same. */
export const newPlan = (owed: readonly PlannedRun[] = []): CustomPlan => ({
  runs: owed,
  manual: [],
  ended: false,
  askedUntil: owed.at(-1)?.runAfter ?? null,
});

/** What is left of a plan after a pause that ends now, as every schedule goes on after one. */
export function resumePlan(plan: CustomPlan, catchup: Catchup, now: number): CustomPlan {
  if (catchup === true) return plan;
  const future = plan.runs.filter((run) => run.runAfter > now);
  // Which of the runs that have passed is the latest is not known unless a later one is.
  if (future.length === 0 && !plan.ended) return newPlan();
  const latest = catchup === false ? plan.runs.filter((run) => run.runAfter <= now).slice(-1) : [];
  return { ...plan, runs: [...latest, ...future] };
}

export const withoutCreated = (plan: CustomPlan, next: PlannedRun | undefined): CustomPlan => ({
  ...plan,
  runs: plan.runs.filter((run) => next !== undefined && run.logicalDate >= next.logicalDate),
});

export const manualIntervalOf = (plan: CustomPlan, at: number): Interval =>
  plan.manual.findLast((answer) => answer.at <= at)?.interval ?? { start: at, end: at };
