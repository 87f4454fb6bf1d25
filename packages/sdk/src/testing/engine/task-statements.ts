// The statements that write task instances, as packages/shared/src/db/statements has them in SQL: the same conditions,
// the same locks in the same order, the same changes. Each write names the attempt, its epoch and the state it expects.
import type { BranchDecision } from "../../runtime/protocol.ts";
import { DECIDABLE_TASK_STATES, HELD_TASK_STATES, type Change, type TaskState } from "@millrace/shared/model";
import { FRESH_ATTEMPT, type Draft, type TaskRow, type TaskVersion } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";
import { instant, waiting } from "./statement.ts";
import { follow, lockFree, lockMatching, updateWhere } from "./steps.ts";
import type { Transaction } from "./transaction.ts";

/** An attempt as a message or a worker knows it. */
export interface AttemptKey {
  readonly id: number;
  readonly epoch: number;
}

/** Attempts to change with what is to be written about each, in the order of locks. */
interface Named<K> {
  readonly row: TaskRow;
  readonly key: K;
}

const HELD: ReadonlySet<TaskState> = new Set(HELD_TASK_STATES);
const CHANGED = ["scheduled", "success", "skipped", "upstream_failed", "removed"];
const byRow = (a: { readonly row: TaskRow }, b: { readonly row: TaskRow }): number => a.row.rowId - b.row.rowId;

/** The rows of these attempts, in the order of locks; what has another id by now is not among them. */
export function rowsOf<K extends { readonly id: number }>(tx: Transaction, keys: readonly K[]): Named<K>[] {
  const found: Named<K>[] = [];
  for (const key of keys) {
    const row = tx.store.attempts.get(key.id);
    if (row !== undefined) found.push({ row, key });
  }
  return found.length > 1 ? found.sort(byRow) : found;
}

const isStill = (key: AttemptKey, version: TaskVersion): boolean =>
  version.id === key.id && version.epoch === key.epoch;
const isMine = (version: TaskVersion, key: AttemptKey): boolean => isStill(key, version) && version.state === "running";

export const applyDecisions = waiting(
  "apply-decisions",
  DECIDABLE_TASK_STATES.flatMap((from) => CHANGED.map((to) => `${from}>${to}`)),
  (tx, changes: readonly Change<Snapshot>[]) => {
    const written: Change<Snapshot>[] = [];
    const named = changes.map((change): Named<Change<Snapshot>> => ({ row: change.ti.row, key: change }));
    if (named.length > 1) named.sort(byRow);
    const isAsSeen = (v: TaskVersion, { ti }: Change<Snapshot>) => isStill(ti, v) && v.state === ti.state;
    return follow(
      updateWhere(tx, named, isAsSeen, (row, change) => {
        const { to, reason } = change;
        tx.writeTask(row, (after) => {
          if ((to === "scheduled" || to === "success") && after.state !== "up_for_reschedule") after.tryNumber++;
          after.state = to;
          after.epoch++;
          if (to === "scheduled") after.scheduledAt = tx.now;
          if (to === "success") after.startDate = tx.now;
          after.endDate = to === "scheduled" ? undefined : tx.now;
          after.retryAt = undefined;
          if (reason !== "") after.reason = reason;
        });
        written.push(change);
      }),
      () => written,
    );
  },
);

export const queueTasks = instant("queue-tasks", ["scheduled>queued"], (tx, keys: readonly AttemptKey[]) => {
  const queued: (AttemptKey & { readonly row: TaskRow })[] = [];
  for (const key of keys) {
    const row = tx.store.attempts.get(key.id);
    if (row === undefined) continue;
    const matches = () => isStill(key, tx.read(row)) && tx.read(row).state === "scheduled";
    if (!matches() || !tx.tryLock(row) || !matches()) continue;
    tx.writeTask(row, (after) => {
      after.state = "queued";
      after.epoch++;
      after.queuedAt = after.sentAt = tx.now;
    });
    queued.push({ id: key.id, epoch: key.epoch + 1, row });
  }
  return queued;
});

export const claimAttempts = waiting(
  "claim-attempts",
  ["queued>running"],
  (tx, keys: readonly (AttemptKey & { readonly token: number })[], worker: number) => {
    const claimed: TaskRow[] = [];
    const isFree = (v: TaskVersion, key: AttemptKey) => isStill(key, v) && v.state === "queued";
    return follow(
      updateWhere(tx, rowsOf(tx, keys), isFree, (row, key) => {
        tx.writeTask(row, (after) => {
          after.state = "running";
          after.epoch++;
          after.token = key.token;
          after.startDate = after.resumes ? (after.startDate ?? tx.now) : tx.now;
          after.heartbeat = tx.now;
          after.endDate = undefined;
          after.worker = worker;
        });
        claimed.push(row);
      }),
      () => claimed,
    );
  },
);

/** After a claim whose answer was lost. */
export const readClaims = instant("read-claims", [], (tx, tokens: readonly number[], rows: readonly TaskRow[]) => {
  return rows.filter((row) => tx.read(row).state === "running" && tokens.includes(tx.read(row).token ?? -1));
});

export interface Ended extends AttemptKey {
  readonly state: "success" | "failed" | "skipped";
  readonly branchDecision: BranchDecision | null;
  readonly reason: string | undefined;
}

export const finishAttempts = waiting(
  "finish-attempts",
  ["running>success", "running>failed", "running>skipped"],
  (tx, ends: readonly Ended[]) => {
    const finished: TaskRow[] = [];
    return follow(
      updateWhere(tx, rowsOf(tx, ends), isMine, (row, end) => {
        tx.writeTask(row, (after) => {
          after.state = end.state;
          after.epoch++;
          after.endDate = tx.now;
          after.branchDecision = end.branchDecision;
          after.reason = end.reason;
        });
        finished.push(row);
      }),
      () => finished,
    );
  },
);

/** Another attempt of the same task instance. */
function startAfresh(tx: Transaction, after: Draft<TaskVersion>): void {
  Object.assign(after, FRESH_ATTEMPT);
  after.id = tx.store.newId();
  after.epoch++;
}

export interface Retried extends AttemptKey {
  readonly delaySeconds: number;
  /** Not counted against the task's retries; with `infra`, counted as a lost worker. */
  readonly free: boolean;
  readonly infra: boolean;
  readonly reason: string;
}

export const retryAttempts = waiting("retry-attempts", ["running>up_for_retry"], (tx, retries: readonly Retried[]) => {
  const retried: TaskRow[] = [];
  return follow(
    updateWhere(tx, rowsOf(tx, retries), isMine, (row, retry) => {
      tx.writeTask(row, (after) => {
        startAfresh(tx, after);
        after.state = "up_for_retry";
        after.endDate = tx.now;
        after.retryAt = tx.now + retry.delaySeconds * 1000;
        if (retry.free) after.maxTries++;
        if (retry.infra) after.infraFailures++;
        after.reason = retry.reason;
      });
      retried.push(row);
    }),
    () => retried,
  );
});

/** The attempts that the worker still has, of those it says are alive; the state tells it which to stop. */
export const heartbeatAttempts = waiting("heartbeat-attempts", [], (tx, ids: readonly number[], worker: number) => {
  const rows = ids.flatMap((id) => tx.store.attempts.get(id) ?? []);
  const mine = (v: TaskVersion) => ids.includes(v.id) && v.worker === worker && HELD.has(v.state);
  return follow(lockMatching<TaskVersion, TaskRow>(tx, rows, mine), (living) => {
    for (const row of living) tx.writeTask(row, (after) => void (after.heartbeat = tx.now));
    return living.map((row) => tx.read(row));
  });
});

export const lockLostAttempts = instant("lock-lost-attempts", [], (tx, leaseSeconds: number) => {
  const before = tx.now - leaseSeconds * 1000;
  const isLost = ({ state, heartbeat }: TaskVersion) => HELD.has(state) && (heartbeat ?? tx.now) < before;
  const lost = [...tx.store.occupying].filter((row) => isLost(tx.read(row))).sort((a, b) => a.rowId - b.rowId);
  return lockFree(tx, lost).filter((row) => isLost(tx.read(row)));
});

export const redispatchAttempts = instant("redispatch-attempts", [], (tx, olderThanSeconds: number) => {
  const before = tx.now - olderThanSeconds * 1000;
  const isOld = ({ state, sentAt }: TaskVersion) => state === "queued" && (sentAt ?? tx.now) < before;
  const rows = lockFree(
    tx,
    [...tx.store.occupying].filter((row) => isOld(tx.read(row))),
  ).filter((row) => isOld(tx.read(row)));
  for (const row of rows) tx.writeTask(row, (after) => void (after.sentAt = tx.now));
  return rows.map((row): AttemptKey => tx.read(row));
});

export interface Marked extends AttemptKey {
  readonly state: "success" | "failed" | "skipped";
  readonly reason: string;
}

const NOT_HELD: readonly TaskState[] = [
  "none",
  "scheduled",
  "queued",
  "success",
  "failed",
  "up_for_retry",
  "up_for_reschedule",
  "deferred",
  "upstream_failed",
  "skipped",
  "removed",
];

export const markAttempts = waiting(
  "mark-attempts",
  NOT_HELD.flatMap((from) => ["success", "failed", "skipped"].filter((to) => to !== from).map((to) => `${from}>${to}`)),
  (tx, marks: readonly Marked[]) => {
    const marked: TaskRow[] = [];
    const matches = (v: TaskVersion, key: Marked) => isStill(key, v) && !HELD.has(v.state) && v.state !== key.state;
    return follow(
      updateWhere(tx, rowsOf(tx, marks), matches, (row, mark) => {
        tx.writeTask(row, (after) => {
          after.state = mark.state;
          after.epoch++;
          after.startDate ??= tx.now;
          after.endDate = tx.now;
          after.retryAt = undefined;
          after.reason = mark.reason;
        });
        marked.push(row);
      }),
      () => marked,
    );
  },
);

export interface Stopped {
  readonly id: number;
  readonly to: "restarting" | "shutdown";
  readonly mark: "success" | "failed" | "skipped" | undefined;
  readonly reason: string;
}

export const stopAttempts = waiting(
  "stop-attempts",
  ["running>restarting", "running>shutdown", "restarting>shutdown", "shutdown>restarting"],
  (tx, stops: readonly Stopped[]) => {
    const stopped: number[] = [];
    const matches = (v: TaskVersion, { id }: Stopped) => v.id === id && HELD.has(v.state);
    return follow(
      updateWhere(tx, rowsOf(tx, stops), matches, (row, stop) => {
        tx.writeTask(row, (after) => {
          if (after.state !== stop.to) after.epoch++;
          after.state = stop.to;
          after.mark = stop.mark;
          after.reason = stop.reason;
        });
        stopped.push(stop.id);
      }),
      () => stopped,
    );
  },
);

/** The process of a stopped attempt is gone: it starts afresh, or takes its mark. */
export const confirmStopped = waiting(
  "confirm-stopped",
  ["restarting>none", "shutdown>failed", "shutdown>success", "shutdown>skipped"],
  (tx, keys: readonly AttemptKey[]) => {
    const confirmed: TaskRow[] = [];
    const matches = (v: TaskVersion, key: AttemptKey) =>
      isStill(key, v) && (v.state === "restarting" || v.state === "shutdown");
    return follow(
      updateWhere(tx, rowsOf(tx, keys), matches, (row) => {
        tx.writeTask(row, (after) => {
          if (after.state === "shutdown") {
            after.state = after.mark ?? "failed";
            after.epoch++;
            after.mark = undefined;
            after.endDate = tx.now;
          } else {
            startAfresh(tx, after);
            after.state = "none";
            after.maxTries = after.tryNumber + row.node.spec.retries;
            after.infraFailures = 0;
            after.startDate = after.endDate = after.retryAt = after.reason = undefined;
          }
        });
        confirmed.push(row);
      }),
      () => confirmed,
    );
  },
);
