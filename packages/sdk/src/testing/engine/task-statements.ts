// The statements that write task instances, as packages/shared/src/db/statements has them in SQL: the same conditions,
// the same locks in the same order, the same changes. Each write names the attempt, its epoch and the state it expects.
import type { BranchDecision } from "../../runtime/protocol.ts";
import { DECIDABLE_TASK_STATES, HELD_TASK_STATES, type Change, type TaskState } from "@millrace/shared/model";
import { FRESH_ATTEMPT, type TaskRow, type TaskVersion } from "./rows.ts";
import type { Snapshot } from "./snapshot.ts";
import { instant, waiting } from "./statement.ts";
import { lockFree, lockMatching } from "./steps.ts";
import type { Transaction } from "./transaction.ts";

/** An attempt as a message or a worker knows it. */
export interface AttemptKey {
  readonly id: number;
  readonly epoch: number;
}

const HELD: ReadonlySet<TaskState> = new Set(HELD_TASK_STATES);
const CHANGED = ["scheduled", "success", "skipped", "upstream_failed", "removed"];
const byRow = (a: { readonly row: TaskRow }, b: { readonly row: TaskRow }): number => a.row.rowId - b.row.rowId;

/** The rows of these attempts, in the order of locks; what has another id by now is not among them. */
function rowsOf<K extends AttemptKey>(
  tx: Transaction,
  keys: readonly K[],
): { readonly row: TaskRow; readonly key: K }[] {
  const found: { readonly row: TaskRow; readonly key: K }[] = [];
  for (const key of keys) {
    const row = tx.store.attempts.get(key.id);
    if (row !== undefined) found.push({ row, key });
  }
  return found.length > 1 ? found.sort(byRow) : found;
}

const isStill = (key: AttemptKey, version: TaskVersion): boolean =>
  version.id === key.id && version.epoch === key.epoch;

export const applyDecisions = waiting(
  "apply-decisions",
  DECIDABLE_TASK_STATES.flatMap((from) => CHANGED.map((to) => `${from}>${to}`)),
  function* (tx, changes: readonly Change<Snapshot>[]) {
    const written: Change<Snapshot>[] = [];
    for (const change of [...changes].sort((a, b) => byRow(a.ti, b.ti))) {
      const { ti, to, reason } = change;
      const [row] = yield* lockMatching<TaskVersion, TaskRow>(
        tx,
        [ti.row],
        (v) => isStill(ti, v) && v.state === ti.state,
      );
      if (row === undefined) continue;
      const before = tx.read(row);
      const starts = to === "scheduled" || to === "success";
      tx.writeTask(row, {
        state: to,
        epoch: before.epoch + 1,
        tryNumber: before.tryNumber + (starts && before.state !== "up_for_reschedule" ? 1 : 0),
        scheduledAt: to === "scheduled" ? tx.now : before.scheduledAt,
        startDate: to === "success" ? tx.now : before.startDate,
        endDate: to === "scheduled" ? undefined : tx.now,
        retryAt: undefined,
        ...(reason === "" ? {} : { reason }),
      });
      written.push(change);
    }
    return written;
  },
);

export const queueTasks = instant("queue-tasks", ["scheduled>queued"], (tx, keys: readonly AttemptKey[]) => {
  const queued: (AttemptKey & { readonly row: TaskRow })[] = [];
  for (const key of keys) {
    const row = tx.store.attempts.get(key.id);
    if (row === undefined) continue;
    const matches = () => isStill(key, tx.read(row)) && tx.read(row).state === "scheduled";
    if (!matches() || lockFree(tx, [row]).length === 0 || !matches()) continue;
    const epoch = key.epoch + 1;
    tx.writeTask(row, { state: "queued", epoch, queuedAt: tx.now, sentAt: tx.now });
    queued.push({ id: key.id, epoch, row });
  }
  return queued;
});

export const claimAttempts = waiting(
  "claim-attempts",
  ["queued>running"],
  function* (tx, keys: readonly (AttemptKey & { readonly token: number })[], worker: number) {
    const claimed: TaskRow[] = [];
    for (const { row, key } of rowsOf(tx, keys)) {
      const [locked] = yield* lockMatching<TaskVersion, TaskRow>(
        tx,
        [row],
        (v) => isStill(key, v) && v.state === "queued",
      );
      if (locked === undefined) continue;
      tx.writeTask(row, {
        state: "running",
        epoch: key.epoch + 1,
        token: key.token,
        startDate: tx.now,
        endDate: undefined,
        heartbeat: tx.now,
        worker,
      });
      claimed.push(row);
    }
    return claimed;
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
  function* (tx, ends: readonly Ended[]) {
    const finished: TaskRow[] = [];
    for (const { row, key } of rowsOf(tx, ends)) {
      const [locked] = yield* lockMatching<TaskVersion, TaskRow>(
        tx,
        [row],
        (v) => isStill(key, v) && v.state === "running",
      );
      if (locked === undefined) continue;
      const { state, branchDecision, reason } = key;
      tx.writeTask(row, { state, epoch: key.epoch + 1, endDate: tx.now, branchDecision, reason });
      finished.push(row);
    }
    return finished;
  },
);

export interface Retried extends AttemptKey {
  readonly delaySeconds: number;
  /** Not counted against the task's retries; with `infra`, counted as a lost worker. */
  readonly free: boolean;
  readonly infra: boolean;
  readonly reason: string;
}

export const retryAttempts = waiting(
  "retry-attempts",
  ["running>up_for_retry"],
  function* (tx, retries: readonly Retried[]) {
    const retried: TaskRow[] = [];
    for (const { row, key } of rowsOf(tx, retries)) {
      const [locked] = yield* lockMatching<TaskVersion, TaskRow>(
        tx,
        [row],
        (v) => isStill(key, v) && v.state === "running",
      );
      if (locked === undefined) continue;
      const before = tx.read(row);
      tx.writeTask(row, {
        ...FRESH_ATTEMPT,
        id: tx.store.newId(),
        state: "up_for_retry",
        epoch: before.epoch + 1,
        endDate: tx.now,
        retryAt: tx.now + key.delaySeconds * 1000,
        maxTries: before.maxTries + (key.free ? 1 : 0),
        infraFailures: before.infraFailures + (key.infra ? 1 : 0),
        reason: key.reason,
      });
      retried.push(row);
    }
    return retried;
  },
);

/** The attempts that the worker still has, of those it says are alive; the state tells it which to stop. */
export const heartbeatAttempts = waiting(
  "heartbeat-attempts",
  [],
  function* (tx, ids: readonly number[], worker: number) {
    const rows = ids.flatMap((id) => tx.store.attempts.get(id) ?? []);
    const mine = (v: TaskVersion) => ids.includes(v.id) && v.worker === worker && HELD.has(v.state);
    const living = yield* lockMatching<TaskVersion, TaskRow>(tx, rows, mine);
    for (const row of living) tx.writeTask(row, { heartbeat: tx.now });
    return living.map((row) => tx.read(row));
  },
);

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
  for (const row of rows) tx.writeTask(row, { sentAt: tx.now });
  return rows.map((row): AttemptKey => tx.read(row));
});

export const failUnclaimedAttempts = instant(
  "fail-unclaimed-attempts",
  ["queued>failed"],
  (tx, olderThanSeconds: number) => {
    const before = tx.now - olderThanSeconds * 1000;
    const isOld = ({ state, queuedAt }: TaskVersion) => state === "queued" && (queuedAt ?? tx.now) < before;
    const rows = lockFree(
      tx,
      [...tx.store.occupying].filter((row) => isOld(tx.read(row))),
    ).filter((row) => isOld(tx.read(row)));
    for (const row of rows) {
      const reason = `no worker claimed it within ${olderThanSeconds} s`;
      tx.writeTask(row, { state: "failed", epoch: tx.read(row).epoch + 1, endDate: tx.now, reason });
    }
    return rows;
  },
);

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
  function* (tx, marks: readonly Marked[]) {
    const marked: TaskRow[] = [];
    for (const { row, key } of rowsOf(tx, marks)) {
      const matches = (v: TaskVersion) => isStill(key, v) && !HELD.has(v.state) && v.state !== key.state;
      const [locked] = yield* lockMatching<TaskVersion, TaskRow>(tx, [row], matches);
      if (locked === undefined) continue;
      const startDate = tx.read(row).startDate ?? tx.now;
      tx.writeTask(row, {
        state: key.state,
        epoch: key.epoch + 1,
        startDate,
        endDate: tx.now,
        retryAt: undefined,
        reason: key.reason,
      });
      marked.push(row);
    }
    return marked;
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
  function* (tx, stops: readonly Stopped[]) {
    const stopped: number[] = [];
    for (const { row, key } of rowsOf(
      tx,
      stops.map((stop) => ({ ...stop, epoch: 0 })),
    )) {
      const [locked] = yield* lockMatching<TaskVersion, TaskRow>(
        tx,
        [row],
        (v) => v.id === key.id && HELD.has(v.state),
      );
      if (locked === undefined) continue;
      const before = tx.read(row);
      const epoch = before.epoch + (before.state === key.to ? 0 : 1);
      tx.writeTask(row, { state: key.to, epoch, mark: key.mark, reason: key.reason });
      stopped.push(key.id);
    }
    return stopped;
  },
);

/** The process of a stopped attempt is gone: it starts afresh, or takes its mark. */
export const confirmStopped = waiting(
  "confirm-stopped",
  ["restarting>none", "shutdown>failed", "shutdown>success", "shutdown>skipped"],
  function* (tx, keys: readonly AttemptKey[]) {
    const confirmed: TaskRow[] = [];
    for (const { row, key } of rowsOf(tx, keys)) {
      const matches = (v: TaskVersion) => isStill(key, v) && (v.state === "restarting" || v.state === "shutdown");
      const [locked] = yield* lockMatching<TaskVersion, TaskRow>(tx, [row], matches);
      if (locked === undefined) continue;
      const { state, epoch, mark, tryNumber } = tx.read(row);
      if (state === "shutdown") {
        tx.writeTask(row, { state: mark ?? "failed", epoch: epoch + 1, mark: undefined, endDate: tx.now });
      } else {
        const fresh = { ...FRESH_ATTEMPT, id: tx.store.newId(), state: "none" as const, epoch: epoch + 1 };
        const maxTries = tryNumber + row.node.spec.retries;
        const gone = { startDate: undefined, endDate: undefined, retryAt: undefined, reason: undefined };
        tx.writeTask(row, { ...fresh, ...gone, maxTries, infraFailures: 0 });
      }
      confirmed.push(row);
    }
    return confirmed;
  },
);
