// The pointer: which run of a DAG is due next, kept on its dag row. Set when the DAG is read, moved on with every run
// created from it, and set anew when the DAG is unpaused. Whoever sets it holds the dag row.
import type { DagSpec } from "@millrace/sdk/spec";
import { planNextRun, type Interval, type PlannedRun } from "../model/index.ts";
import type { Queryable } from "./database.ts";
import { lockDagsToPlan } from "./statements/dag-lock-to-plan.ts";
import { setPointers } from "./statements/dag-set-pointers.ts";

/**
 * The run after the one of `lastInterval` (undefined: there is none yet). Undefined: no further one. The DAG's first
 * date is the earliest of its own and its tasks'; its last is its own, unless every task has one and the last is later.
 * @throws AppError SCHEDULE_INVALID.
 */
export function pointerFor(spec: DagSpec, lastInterval: Interval | undefined, nowMs: number): PlannedRun | undefined {
  const instant = (date: string | undefined) => (date === undefined ? undefined : Date.parse(date));
  const starts = [spec.startDate, ...spec.tasks.map((task) => task.startDate)].flatMap((date) => instant(date) ?? []);
  const taskEnds = spec.tasks.flatMap((task) => instant(task.endDate) ?? []);
  const everyTaskEnds = taskEnds.length > 0 && taskEnds.length === spec.tasks.length;
  const ends = [instant(spec.endDate) ?? [], everyTaskEnds ? taskEnds : []].flat();
  return planNextRun(spec.schedule, {
    last: lastInterval,
    earliest: starts.length === 0 ? undefined : Math.min(...starts),
    latest: ends.length === 0 ? undefined : Math.max(...ends),
    catchup: spec.catchup,
    now: nowMs,
  });
}

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
  await storePointers(
    tx,
    dags.map(({ dagId, spec, lastStart, lastEnd, now }) => ({
      dagId,
      next: pointerFor(spec, intervalOf(lastStart, lastEnd), now.getTime()),
    })),
  );
}

export const intervalOf = (start: Date | null, end: Date | null): Interval | undefined =>
  start === null || end === null ? undefined : { start: start.getTime(), end: end.getTime() };
