// The statements of tasks that wait without a worker, as packages/shared/src/db/statements has them in SQL. What ends a wait
// (its trigger) is not a row here: whoever simulates knows.
import { FRESH_ATTEMPT, type TaskRow, type TaskVersion } from "./rows.ts";
import { waiting } from "./statement.ts";
import { follow, updateWhere } from "./steps.ts";
import { rowsOf, type AttemptKey, type Ended } from "./task-statements.ts";

const isStill = (version: TaskVersion, key: AttemptKey, state: TaskVersion["state"]): boolean =>
  version.id === key.id && version.epoch === key.epoch && version.state === state;
const isMine = (version: TaskVersion, key: AttemptKey): boolean => isStill(version, key, "running");
const isDeferred = (version: TaskVersion, key: AttemptKey): boolean => isStill(version, key, "deferred");

export const deferAttempts = waiting("defer-attempts", ["running>deferred"], (tx, keys: readonly AttemptKey[]) => {
  const deferred: TaskRow[] = [];
  const write = (row: TaskRow) => {
    tx.writeTask(row, (after) => {
      after.state = "deferred";
      after.epoch++;
      after.resumes = true;
    });
    deferred.push(row);
  };
  return follow(updateWhere(tx, rowsOf(tx, keys), isMine, write), () => deferred);
});

export const rescheduleAttempts = waiting(
  "reschedule-attempts",
  ["running>up_for_reschedule"],
  (tx, keys: readonly (AttemptKey & { readonly delaySeconds: number })[]) => {
    const rescheduled: TaskRow[] = [];
    const write = (row: TaskRow, { delaySeconds }: { readonly delaySeconds: number }) => {
      tx.writeTask(row, (after) => {
        after.state = "up_for_reschedule";
        after.epoch++;
        after.endDate = tx.now;
        after.retryAt = tx.now + delaySeconds * 1000;
        after.resumes = true;
      });
      rescheduled.push(row);
    };
    return follow(updateWhere(tx, rowsOf(tx, keys), isMine, write), () => rescheduled);
  },
);

export interface BegunWait extends AttemptKey {
  readonly from: TaskVersion["state"];
}

/** Tasks that begin with a wait, before any worker has them. */
export const startFromTriggers = waiting(
  "start-from-triggers",
  ["none>deferred", "up_for_retry>deferred"],
  (tx, keys: readonly BegunWait[]) => {
    const begun: TaskRow[] = [];
    const write = (row: TaskRow) => {
      tx.writeTask(row, (after) => {
        after.state = "deferred";
        after.epoch++;
        after.tryNumber++;
        after.startDate = after.scheduledAt = tx.now;
        after.endDate = after.retryAt = undefined;
        after.resumes = true;
      });
      begun.push(row);
    };
    const matches = (version: TaskVersion, key: BegunWait) => isStill(version, key, key.from);
    return follow(updateWhere(tx, rowsOf(tx, keys), matches, write), () => begun);
  },
);

/** Its event has come, or its time is over: a worker goes on with it. */
export const resumeDeferred = waiting("resume-deferred", ["deferred>scheduled"], (tx, keys: readonly AttemptKey[]) => {
  const resumed: TaskRow[] = [];
  const write = (row: TaskRow) => {
    tx.writeTask(row, (after) => {
      after.state = "scheduled";
      after.epoch++;
      after.scheduledAt = tx.now;
    });
    resumed.push(row);
  };
  return follow(updateWhere(tx, rowsOf(tx, keys), isDeferred, write), () => resumed);
});

/** The wait ends the task without a worker. */
export const finishDeferred = waiting(
  "finish-deferred",
  ["deferred>success", "deferred>failed", "deferred>skipped"],
  (tx, ends: readonly Ended[]) => {
    const finished: TaskRow[] = [];
    const write = (row: TaskRow, end: Ended) => {
      tx.writeTask(row, (after) => {
        after.state = end.state;
        after.epoch++;
        after.endDate = tx.now;
        after.branchDecision = end.branchDecision;
        after.reason = end.reason;
      });
      finished.push(row);
    };
    return follow(updateWhere(tx, rowsOf(tx, ends), isDeferred, write), () => finished);
  },
);

export const retryDeferred = waiting(
  "retry-deferred",
  ["deferred>up_for_retry"],
  (tx, retries: readonly (AttemptKey & { readonly delaySeconds: number; readonly reason: string })[]) => {
    const retried: TaskRow[] = [];
    const write = (
      row: TaskRow,
      { delaySeconds, reason }: { readonly delaySeconds: number; readonly reason: string },
    ) => {
      tx.writeTask(row, (after) => {
        Object.assign(after, FRESH_ATTEMPT);
        after.id = tx.store.newId();
        after.epoch++;
        after.state = "up_for_retry";
        after.endDate = tx.now;
        after.retryAt = tx.now + delaySeconds * 1000;
        after.reason = reason;
      });
      retried.push(row);
    };
    return follow(updateWhere(tx, rowsOf(tx, retries), isDeferred, write), () => retried);
  },
);
