// The pointer: which run of a DAG is due next, kept on its dag row. Set when the DAG is read, moved on with every run
// created from it, and set anew when the DAG is unpaused. Whoever sets it holds the dag row.
import {
  newPlan,
  pointerFor,
  resumePlan,
  timeOf,
  type CustomPlan,
  type Interval,
  type PlannedRun,
} from "../model/index.ts";
import type { Queryable } from "./database.ts";
import { lockDagsToPlan, type DagToPlan } from "./statements/dag-lock-to-plan.ts";
import { setPointers } from "./statements/dag-set-pointers.ts";
import { putPlans, readPlans } from "./timetable-plans.ts";

export interface Pointer {
  readonly dagId: string;
  readonly next: PlannedRun | undefined;
}

/** Writes pointers; `next` undefined clears one. */
export async function storePointers(tx: Queryable, pointers: readonly Pointer[]): Promise<void> {
  if (pointers.length === 0) return;
  const dates = (instant: (next: PlannedRun) => number) =>
    pointers.map(({ next }) => (next === undefined ? null : new Date(instant(next))));
  await tx.run(setPointers, [
    pointers.map(({ dagId }) => dagId),
    dates((next) => next.logicalDate),
    dates((next) => next.interval.start),
    dates((next) => next.interval.end),
    dates((next) => next.runAfter),
  ]);
}

/**
 * Plans DAGs anew from their newest version, their newest scheduled run and the present. For an unpause, before it: a
 * DAG without catchup goes on with the latest interval instead of the one at which it was paused.
 */
export async function replanDags(tx: Queryable, dagIds: readonly string[]): Promise<void> {
  const dags = await tx.run(lockDagsToPlan, [dagIds]);
  const stored = await readPlans(
    tx,
    dags.filter(({ spec }) => timeOf(spec.schedule).kind === "custom").map(({ dagId }) => dagId),
  );
  const planned = dags.map((dag) => ({ dag, ...resumeDag(dag, stored.get(dag.dagId)) }));
  await storePointers(
    tx,
    planned.map(({ dag, next }) => ({ dagId: dag.dagId, next })),
  );
  await putPlans(tx, new Map(planned.flatMap(({ dag, plan }) => (plan === undefined ? [] : [[dag.dagId, plan]]))));
}

/** What an unpause at `now` makes of a DAG: its next run, and what is left of the plan of a custom schedule. */
export function resumeDag(
  { spec, lastStart, lastEnd, now }: Pick<DagToPlan, "spec" | "lastStart" | "lastEnd" | "now">,
  stored: CustomPlan | undefined,
): { readonly next: PlannedRun | undefined; readonly plan: CustomPlan | undefined } {
  if (timeOf(spec.schedule).kind !== "custom")
    return { next: pointerFor(spec, intervalOf(lastStart, lastEnd), now.getTime()), plan: undefined };
  const plan = resumePlan(stored ?? newPlan(), spec.catchup, now.getTime());
  return { next: plan.runs[0], plan };
}

/** The next run as it is kept on the dag row. */
export const pointerOf = (
  dag: Pick<DagToPlan, "nextDate" | "nextStart" | "nextEnd" | "nextAfter">,
): PlannedRun | undefined => {
  const interval = intervalOf(dag.nextStart, dag.nextEnd);
  return dag.nextDate === null || dag.nextAfter === null || interval === undefined
    ? undefined
    : { logicalDate: dag.nextDate.getTime(), interval, runAfter: dag.nextAfter.getTime() };
};

export const intervalOf = (start: Date | null, end: Date | null): Interval | undefined =>
  start === null || end === null ? undefined : { start: start.getTime(), end: end.getTime() };
