// Runs longer than their dagrunTimeout: the run fails, what no worker has is skipped, what workers have is stopped and fails.
import { lockTasksOfRuns, lockTimedOutRuns, markAttempts, markRuns, stopAttempts } from "@millrace/shared/db";
import { HELD_TASK_STATES, isFinished } from "@millrace/shared/model";
import type { ActorDeps } from "../deps.ts";

export interface TimedOut {
  readonly runs: number;
  /** Attempts that workers have to stop. */
  readonly stopped: readonly string[];
}

const AT_ONCE = 50;

export async function timeOutRuns(deps: ActorDeps): Promise<TimedOut> {
  const runs = await deps.tx.run(lockTimedOutRuns, [AT_ONCE]);
  if (runs.length === 0) return { runs: 0, stopped: [] };
  const tasks = await deps.tx.run(lockTasksOfRuns, [runs.map((run) => run.dagId), runs.map((run) => run.runId)]);
  const reasons = new Map(
    runs.map((run) => [run.id, `its run took longer than its dagrunTimeout of ${run.timeoutSeconds} s`]),
  );
  const reasonOf = (dagRunId: number) => reasons.get(dagRunId) ?? "";
  await deps.tx.run(markRuns, [runs.map((run) => run.id), "failed", "timed_out"]);
  const open = tasks.filter((ti) => !isFinished(ti.state));
  const isHeld = (state: string) => (HELD_TASK_STATES as readonly string[]).includes(state);
  const skip = open.filter((ti) => !isHeld(ti.state));
  const stop = open.filter((ti) => isHeld(ti.state));
  await deps.tx.run(markAttempts, [
    skip.map((ti) => ti.id),
    skip.map((ti) => ti.epoch),
    skip.map(() => "skipped"),
    skip.map((ti) => reasonOf(ti.dagRunId)),
  ]);
  const stopped = await deps.tx.run(stopAttempts, [
    stop.map((ti) => ti.id),
    stop.map(() => "shutdown"),
    stop.map(() => "failed"),
    stop.map((ti) => reasonOf(ti.dagRunId)),
  ]);
  for (const run of runs) deps.log.warn({ dag: run.dagId, run: run.runId }, "a run took longer than its dagrunTimeout");
  return { runs: runs.length, stopped: stopped.map((row) => row.id) };
}
