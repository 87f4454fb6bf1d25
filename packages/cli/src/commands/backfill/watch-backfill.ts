import { setTimeout as sleep } from "node:timers/promises";
import { getBackfill, secondsLeft, type BackfillRow, type Database } from "@millrace/shared/db";
import type { Io } from "../../io/io.ts";
import { createProgressBar, type Advance } from "../../output/progress-bar.ts";

const LOOK_EVERY_MS = 500;

export const advanceOf = (backfill: BackfillRow): Advance => ({
  label: `backfill ${backfill.id} of ${backfill.dagId}`,
  total: backfill.total,
  done: backfill.success,
  failed: backfill.failed,
  running: backfill.running,
  left: backfill.left,
  rate: backfill.rate,
  secondsLeft: secondsLeft(backfill),
  note: noteOf(backfill),
});

function noteOf({ completedAt, isPaused, dagIsPaused, isPlanned, planError }: BackfillRow): string | undefined {
  if (planError !== null) return "its timetable failed";
  if (completedAt !== null) return isPaused ? "cancelled" : undefined;
  if (!isPlanned) return "the dag-processor asks its timetable for the dates";
  return isPaused ? "paused" : dagIsPaused ? "its DAG is paused" : undefined;
}

/** Shows how far it is until it is over. */
export async function watchBackfill(io: Io, db: Database, id: number): Promise<BackfillRow> {
  if (io.isErrorTty) {
    io.note(`Ctrl-C ends the watching only; \`millrace backfill show ${id} --wait\` takes it up again`);
  }
  const bar = createProgressBar(io);
  try {
    for (;;) {
      const backfill = await getBackfill(db, id);
      bar.show(advanceOf(backfill));
      if (backfill.completedAt !== null) return backfill;
      await sleep(LOOK_EVERY_MS);
    }
  } finally {
    bar.end();
  }
}
