// One transaction of one actor, READ COMMITTED: it reads what is committed and what it wrote itself, and what it writes
// nobody else sees before the commit. Every row that it writes it has locked; locks are kept to its end.
// INVARIANT: no version enters the store that the guard of the real database would refuse: see `guardTask`.
import { RUN_EDGES, TASK_EDGES } from "@millrace/shared/model";
import type { DagRow, DagVersion, Lockable, Row, RunRow, RunVersion, TaskRow, TaskVersion } from "./rows.ts";
import type { Store } from "./store.ts";

/** What Postgres would refuse: a bug of the actor that wrote it. */
export class RefusedByGuard extends Error {
  override readonly name: string = "RefusedByGuard";
}

export class Transaction {
  readonly store: Store;
  /** Who began it, for checks and traces. */
  readonly owner: string;
  readonly #locks: Lockable[] = [];
  readonly #dags: DagRow[] = [];
  readonly #runs: RunRow[] = [];
  readonly #tasks: TaskRow[] = [];
  readonly #created: RunRow[] = [];
  isOpen = true;

  constructor(store: Store, owner: string) {
    this.store = store;
    this.owner = owner;
  }

  get now(): number {
    return this.store.agenda.now;
  }

  /** Rows that this transaction wrote. */
  get writtenTasks(): readonly TaskRow[] {
    return this.#tasks;
  }

  read<V>(row: Row<V>): V {
    return row.lockedBy === this ? (row.written ?? row.committed) : row.committed;
  }

  /** True when the lock is had. */
  tryLock(row: Lockable): boolean {
    if (row.lockedBy === this) return true;
    if (row.lockedBy !== undefined) return false;
    row.lockedBy = this;
    this.#locks.push(row);
    return true;
  }

  writeDag(row: DagRow, change: Partial<DagVersion>): void {
    this.#own(row, this.#dags);
    row.written = { ...this.read(row), ...change };
  }

  writeRun(row: RunRow, change: Partial<RunVersion>): void {
    const before = this.read(row);
    this.#own(row, this.#runs);
    const after = { ...before, ...change };
    if (before.state !== after.state && !RUN_EDGES.has(`${before.state}>${after.state}`)) {
      throw new RefusedByGuard(`run ${row.runId}: ${before.state} cannot become ${after.state}`);
    }
    row.written = after;
  }

  writeTask(row: TaskRow, change: Partial<TaskVersion>): void {
    const before = this.read(row);
    this.#own(row, this.#tasks);
    const after = Object.assign({ ...before }, change);
    guardTask(row, before, after);
    this.store.watch?.taskWritten(row, before, after, this.owner);
    row.written = after;
  }

  createRun(run: RunRow): void {
    this.#created.push(run);
  }

  commit(): void {
    this.isOpen = false;
    const { store } = this;
    for (const run of this.#created) store.addRun(run);
    for (const row of this.#dags) {
      row.committed = row.written ?? row.committed;
      row.written = undefined;
    }
    for (const row of this.#runs) {
      const before = row.committed;
      row.committed = row.written ?? before;
      row.written = undefined;
      store.runChanged(row, before);
    }
    for (const row of this.#tasks) {
      const before = row.committed;
      row.committed = row.written ?? before;
      row.written = undefined;
      store.taskChanged(row, before);
    }
    this.#release();
    store.watch?.committed(this.owner, this.#runs, this.#tasks);
  }

  rollback(): void {
    if (!this.isOpen) return;
    this.isOpen = false;
    for (const row of [...this.#dags, ...this.#runs, ...this.#tasks]) row.written = undefined;
    this.#release();
  }

  #own<R extends Lockable & { written: unknown }>(row: R, list: R[]): void {
    if (row.lockedBy !== this) throw new Error("a row is written whose lock is not held");
    if (row.written === undefined) list.push(row);
  }

  #release(): void {
    for (const row of this.#locks) row.lockedBy = undefined;
    this.store.released(this.#locks);
  }
}

/** The rule that the database's trigger enforces: legal changes of state only, and each change of owner one epoch. */
function guardTask(row: TaskRow, before: TaskVersion, after: TaskVersion): void {
  const isChange = before.state !== after.state;
  const name = () => `${row.taskId} of ${row.run.runId}`;
  if (isChange && !TASK_EDGES.has(`${before.state}>${after.state}`)) {
    throw new RefusedByGuard(`${name()}: ${before.state} cannot become ${after.state}`);
  }
  const step = isChange || before.id !== after.id ? 1 : 0;
  if (after.epoch - before.epoch !== step) {
    throw new RefusedByGuard(
      `${name()}: ${before.state} to ${after.state} takes epoch ${before.epoch} to ${after.epoch}`,
    );
  }
}
