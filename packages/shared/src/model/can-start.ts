// Whether starting a queued run would lead anywhere. Pure; the scheduler starts by it and `explain` says it.
import type { TaskSnapshot } from "./decide-task.ts";
import { isDecidable, isFinished } from "./task-state.ts";

/** A task moves, is under way already, or none is left and the verdict falls. A run that could do nothing takes no room. */
export function canStart(changes: number, tasks: readonly TaskSnapshot[]): boolean {
  if (changes > 0) return true;
  const unfinished = tasks.filter((ti) => !isFinished(ti.state));
  return unfinished.length === 0 || unfinished.some((ti) => !isDecidable(ti.state));
}
