import { setTimeout as sleep } from "node:timers/promises";
import { getRun, listTaskInstances, type Database, type RunRow, type TaskInstanceRow } from "@millrace/shared/db";
import type { Io } from "../io/io.ts";
import { createProgress } from "../output/progress.ts";

const LOOK_EVERY_MS = 250;

/** Shows the tasks of a run until it has ended. */
export async function watchRun(io: Io, db: Database, key: { dagId: string; runId: string }): Promise<RunRow> {
  const progress = createProgress(io, { write: io.write, isTty: io.isErrorTty });
  const begin = performance.now();
  for (;;) {
    // The run first: once it has ended its tasks do not change any more.
    const run = await getRun(db, key.dagId, key.runId);
    const { items } = await listTaskInstances(db, key.dagId, key.runId, { orderBy: ["start_date", "task_id"] });
    progress.show(items.map((ti) => ({ label: labelOf(ti), state: ti.state, note: noteOf(ti) })));
    if (run.state === "success" || run.state === "failed") {
      progress.end();
      const seconds = run.duration ?? (performance.now() - begin) / 1000;
      io.note(`${run.runId}: ${run.state} after ${seconds.toFixed(2)} s`);
      return run;
    }
    await sleep(LOOK_EVERY_MS);
  }
}

const labelOf = (ti: TaskInstanceRow): string => (ti.mapIndex < 0 ? ti.taskId : `${ti.taskId}[${ti.mapIndex}]`);

function noteOf(ti: TaskInstanceRow): string | undefined {
  const tries = ti.tryNumber > 1 ? `try ${ti.tryNumber} of ${ti.maxTries + 1}` : undefined;
  const took = ti.duration === null ? undefined : `${ti.duration.toFixed(2)} s`;
  return [tries, took].filter((part) => part !== undefined).join(", ") || undefined;
}
