// What a scheduler does apart from its passes, as packages/scheduler/src/recovery and time-out-runs.ts: attempts whose
// worker fell silent, runs over their time. Each is one transaction.
import { decideLostAttempt, HELD_TASK_STATES, isFinished, type TaskState } from "@millrace/shared/model";
import type { RunRow, TaskRow } from "./rows.ts";
import type { SchedulerDeps } from "./scheduling-pass.ts";
import { lockAll, TRAVEL, type Steps } from "./steps.ts";
import type { AttemptKey, Ended, Retried } from "./task-statements.ts";
import type { Transaction } from "./transaction.ts";

/** Gives the rows that were judged: their runs are to be woken. */
export function* handleLostAttempts(tx: Transaction, { s, settings }: SchedulerDeps): Steps<readonly TaskRow[]> {
  const lost = yield* s.lockLostAttempts(tx, settings.lease);
  const [wished, again, over]: [AttemptKey[], Retried[], Ended[]] = [[], [], []];
  for (const row of lost) {
    const { id, epoch, state, infraFailures, heartbeat } = tx.read(row);
    if (state !== "running") {
      wished.push({ id, epoch });
      continue;
    }
    const silent = `worker lost: no heartbeat for ${Math.round((tx.now - (heartbeat ?? tx.now)) / 1000)} s`;
    const outcome = decideLostAttempt(row.node.spec, infraFailures);
    if (outcome === "retry") again.push({ id, epoch, delaySeconds: 0, free: true, infra: true, reason: silent });
    else over.push({ id, epoch, state: "failed", branchDecision: null, reason: silent });
  }
  if (wished.length > 0) yield* s.confirmStopped(tx, wished);
  if (again.length > 0) yield* s.retryAttempts(tx, again);
  if (over.length > 0) yield* s.finishAttempts(tx, over);
  return lost;
}

const HELD: ReadonlySet<TaskState> = new Set(HELD_TASK_STATES);

export interface TimedOut {
  readonly runs: readonly RunRow[];
  /** Attempts that workers have to stop. */
  readonly stopped: readonly number[];
}

/** The run fails, what no worker has is skipped, what workers have is stopped and fails. */
export function* timeOutRuns(tx: Transaction, { s }: SchedulerDeps): Steps<TimedOut> {
  const runs = yield* s.lockTimedOutRuns(tx);
  if (runs.length === 0) return { runs, stopped: [] };
  if (tx.store.isShared) yield TRAVEL;
  yield* lockAll(
    tx,
    runs.flatMap((run) => run.tasks),
  );
  const open = runs.flatMap((run) => {
    const reason = `its run took longer than its dagrunTimeout of ${run.dag.graph.spec.dagrunTimeout} s`;
    return run.tasks.map((row) => ({ ...tx.read(row), reason })).filter(({ state }) => !isFinished(state));
  });
  yield* s.failTimedOut(tx, runs);
  const skip = open.filter(({ state }) => !HELD.has(state));
  yield* s.markAttempts(
    tx,
    skip.map(({ id, epoch, reason }) => ({ id, epoch, state: "skipped", reason })),
  );
  const stop = open.filter(({ state }) => HELD.has(state));
  const stopped = yield* s.stopAttempts(
    tx,
    stop.map(({ id, reason }) => ({ id, to: "shutdown", mark: "failed", reason })),
  );
  return { runs, stopped };
}
