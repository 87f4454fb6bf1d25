// One transaction of one actor, READ COMMITTED: it reads what is committed and what it wrote itself, and what it writes
// nobody else sees before the commit. Every row that it writes it has locked; locks are kept to its end.
// INVARIANT: no version enters the store that the guard of the real database would refuse: see `guardTask`.
import { RUN_EDGES, TASK_EDGES, type TaskState } from "@millrace/shared/model";
import {
  copyTaskVersion,
  type DagRow,
  type DagVersion,
  type Draft,
  type Lockable,
  type Row,
  type RunRow,
  type RunVersion,
  type TaskRow,
  type TaskVersion,
} from "./rows.ts";
import type { Store } from "./store.ts";

/** What Postgres would refuse: a bug of the actor that wrote it. */
export class RefusedByGuard extends Error {
  override readonly name: string = "RefusedByGuard";
}

export class Transaction {
  readonly store: Store;
  /** Who began it, for checks and traces. */
  readonly owner: string;
  // Most transactions write one row or none: a list is made with its first row.
  #locks: Lockable[] | undefined;
  #dags: DagRow[] | undefined;
  #runs: RunRow[] | undefined;
  #tasks: TaskRow[] | undefined;
  #created: RunRow[] | undefined;
  isOpen = true;

  constructor(store: Store, owner: string) {
    this.store = store;
    this.owner = owner;
  }

  get now(): number {
    return this.store.agenda.now;
  }

  /** One that holds none has written nothing. */
  get holdsLocks(): boolean {
    return this.#locks !== undefined;
  }

  /** Rows that this transaction wrote. */
  get writtenTasks(): readonly TaskRow[] {
    return this.#tasks ?? NONE;
  }

  read<V>(row: Row<V>): V {
    return row.lockedBy === this ? (row.written ?? row.committed) : row.committed;
  }

  /** True when the lock is had. */
  tryLock(row: Lockable): boolean {
    if (row.lockedBy === this) return true;
    if (row.lockedBy !== undefined) return false;
    row.lockedBy = this;
    this.#locks = withOne(this.#locks, row);
    return true;
  }

  writeDag(row: DagRow, change: Partial<DagVersion>): void {
    if (this.#isFirst(row)) this.#dags = withOne(this.#dags, row);
    row.written = { ...this.read(row), ...change };
  }

  writeRun(row: RunRow, change: Partial<RunVersion>): void {
    const before = this.read(row);
    if (this.#isFirst(row)) this.#runs = withOne(this.#runs, row);
    const after = changedRun(before, change);
    if (before.state !== after.state && !RUN_EDGES.has(`${before.state}>${after.state}`)) {
      throw new RefusedByGuard(`run ${row.runId}: ${before.state} cannot become ${after.state}`);
    }
    row.written = after;
  }

  writeTask(row: TaskRow, change: (after: Draft<TaskVersion>) => void): void {
    const before = this.read(row);
    if (this.#isFirst(row)) this.#tasks = withOne(this.#tasks, row);
    const after = copyTaskVersion(before);
    change(after);
    guardTask(row, before, after);
    this.store.watch?.taskWritten(row, before, after, this.owner);
    row.written = after;
  }

  createRun(run: RunRow): void {
    this.#created = withOne(this.#created, run);
  }

  commit(): void {
    this.isOpen = false;
    const { store } = this;
    for (const run of this.#created ?? NONE) store.addRun(run);
    for (const row of this.#dags ?? NONE) {
      row.committed = row.written ?? row.committed;
      row.written = undefined;
    }
    for (const row of this.#runs ?? NONE) {
      const before = row.committed;
      row.committed = row.written ?? before;
      row.written = undefined;
      store.runChanged(row, before);
    }
    for (const row of this.#tasks ?? NONE) {
      const before = row.committed;
      row.committed = row.written ?? before;
      row.written = undefined;
      store.taskChanged(row, before);
    }
    this.#release();
    store.watch?.committed(this.owner, this.#runs ?? NONE, this.#tasks ?? NONE);
  }

  rollback(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    for (const rows of [this.#dags, this.#runs, this.#tasks]) for (const row of rows ?? NONE) row.written = undefined;
    this.#release();
  }

  /** Whether this transaction has not written the row yet. */
  #isFirst(row: Lockable & { readonly written: unknown }): boolean {
    if (row.lockedBy !== this) throw new Error("a row is written whose lock is not held");
    return row.written === undefined;
  }

  #release(): void {
    if (this.#locks === undefined) return;
    for (const row of this.#locks) row.lockedBy = undefined;
    this.store.onReleased?.(this.#locks);
  }
}

/** As two spreads, which cost many times as much. */
const changedRun = (before: RunVersion, change: Partial<RunVersion>): RunVersion => ({
  state: change.state ?? before.state,
  reason: change.reason ?? before.reason,
  startDate: "startDate" in change ? change.startDate : before.startDate,
  endDate: "endDate" in change ? change.endDate : before.endDate,
  lastDecision: change.lastDecision ?? before.lastDecision,
});

const NONE: readonly never[] = [];

function withOne<R>(list: R[] | undefined, row: R): R[] {
  if (list === undefined) return [row];
  list.push(row);
  return list;
}

/** By what a task instance is, what it can become. */
const NEXT_STATES = new Map<TaskState, Set<string>>();
for (const edge of TASK_EDGES) {
  const [from, to] = edge.split(">") as [TaskState, TaskState]; // `from>to`
  NEXT_STATES.set(from, (NEXT_STATES.get(from) ?? new Set()).add(to));
}

const nameOf = (row: TaskRow): string => `${row.taskId} of ${row.run.runId}`;

/** The rule that the database's trigger enforces: legal changes of state only, and each change of owner one epoch. */
function guardTask(row: TaskRow, before: TaskVersion, after: TaskVersion): void {
  const isChange = before.state !== after.state;
  if (isChange && NEXT_STATES.get(before.state)?.has(after.state) !== true) {
    throw new RefusedByGuard(`${nameOf(row)}: ${before.state} cannot become ${after.state}`);
  }
  const step = isChange || before.id !== after.id ? 1 : 0;
  if (after.epoch - before.epoch !== step) {
    throw new RefusedByGuard(
      `${nameOf(row)}: ${before.state} to ${after.state} takes epoch ${before.epoch} to ${after.epoch}`,
    );
  }
}
