import type { RunPreview } from "./preview-runs.ts";

interface Previewed extends Pick<RunPreview, "total" | "due" | "isComplete"> {
  readonly dagId: string;
  readonly isPaused: boolean;
  readonly isHeld: boolean;
  readonly maxActiveRuns: number;
  readonly now: Date;
  readonly from: Date | null;
  readonly until: Date;
}

/** A preview in one sentence or two. */
export function summarizePreview(preview: Previewed): string {
  const { dagId, isPaused, isHeld, from, until, now, total, isComplete } = preview;
  const range = `${from === null || from <= now ? "until" : `from ${minute(from)} until`} ${minute(until)} UTC`;
  const runs = `${isComplete ? "" : "more than "}${counted(total)}`;
  // Runs that are due are shown only where the range begins with the present or before.
  const due = from === null || from <= now ? Math.min(preview.due, total) : 0;
  const atOnce = due === 0 ? "" : due === total ? ", at once" : `, ${due.toLocaleString("en-US")} of them at once`;
  const limit =
    due > preview.maxActiveRuns ? ` No more than ${preview.maxActiveRuns} are active at a time (max_active_runs).` : "";
  const what = total === 0 ? "no run" : `${runs}${atOnce}`;
  if (isHeld) return `${dagId} is paused and creates no runs. Unpausing it now would create ${what} ${range}.${limit}`;
  if (isPaused) return `Unpausing ${dagId} now creates ${what} ${range}.${limit}`;
  return `${dagId} creates ${what} ${range}.${limit}`;
}

const counted = (n: number): string => `${n.toLocaleString("en-US")} ${n === 1 ? "run" : "runs"}`;
const minute = (date: Date): string => date.toISOString().slice(0, 16).replace("T", " ");
