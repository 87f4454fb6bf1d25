// The pointer: which run of a DAG is due next, kept on its dag row. Set when the DAG is read, moved on with every run
// created from it, and set anew when the DAG is unpaused. Whoever sets it holds the dag row.
import { pointerFor, type Interval, type PlannedRun } from "../model/index.ts";
import type { Queryable } from "./database.ts";
import { lockDagsToPlan } from "./statements/dag-lock-to-plan.ts";
import { setPointers } from "./statements/dag-set-pointers.ts";

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
