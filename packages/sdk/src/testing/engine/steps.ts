// How an actor of a simulation is written: a generator that pauses where in production a statement travels to the database,
// so that others may come in between; and that waits for locks. Whoever drives it decides how long a pause lasts, and may
// never go on with it: that is a crash. Where nobody else is, it is run through at once.
import type { Lockable, Row } from "./rows.ts";
import type { Transaction } from "./transaction.ts";

/** The way to the database and back. */
export const TRAVEL = Symbol("travel");

/** A lock is to be waited for. */
export type Pause = typeof TRAVEL | Lockable;

export type Steps<T> = Generator<Pause, T, void>;

/** For one actor alone: nothing comes in between, and no lock is ever waited for. */
export function runThrough<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** `select … for update`: waits for each row in turn. */
export function* lockAll<R extends Lockable>(tx: Transaction, rows: readonly R[]): Steps<void> {
  for (const row of rows) while (!tx.tryLock(row)) yield row;
}

/** `select … for update skip locked`. */
export const lockFree = <R extends Lockable>(tx: Transaction, rows: readonly R[]): R[] =>
  rows.filter((row) => tx.tryLock(row));

/**
 * `update … where`: each row that matches is locked, and looked at again once it is, because somebody may have changed
 * it while it was waited for.
 */
export function* lockMatching<V, R extends Row<V>>(
  tx: Transaction,
  rows: Iterable<R>,
  matches: (version: V, row: R) => boolean,
): Steps<R[]> {
  const locked: R[] = [];
  for (const row of rows) {
    if (!matches(tx.read(row), row)) continue;
    while (!tx.tryLock(row)) yield row;
    if (matches(tx.read(row), row)) locked.push(row);
  }
  return locked;
}

/** As lockMatching, for rows that are each named with a key; each is written as soon as it is locked. */
export function* updateWhere<V, R extends Row<V>, K>(
  tx: Transaction,
  named: readonly { readonly row: R & Row<V>; readonly key: K }[],
  matches: (version: V, key: K) => boolean,
  write: (row: R, key: K) => void,
): Steps<void> {
  for (const { row, key } of named) {
    if (!matches(tx.read<V>(row), key)) continue;
    while (!tx.tryLock(row)) yield row;
    if (matches(tx.read<V>(row), key)) write(row, key);
  }
}
