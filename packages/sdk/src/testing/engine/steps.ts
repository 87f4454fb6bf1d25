// How an actor of a simulation is written: a generator that pauses where in production a statement travels to the database,
// so that others may come in between; and that waits for locks. Whoever drives it decides how long a pause lasts, and may
// never go on with it: that is a crash. Where nobody else is, it is run through at once.
import type { Lockable, Row } from "./rows.ts";
import type { Transaction } from "./transaction.ts";

/** The way to the database and back. */
export const TRAVEL = Symbol("travel");

/** A lock is to be waited for. */
export type Pause = typeof TRAVEL | Lockable;

/** What a generator of an actor gives, or what has ended already: see `done`. */
export interface Steps<T> extends Iterator<Pause, T, void> {
  [Symbol.iterator](): Steps<T>;
}

/** Steps of which none is left. A generator costs five times as much, and most statements never pause. */
class Done<T> implements Steps<T> {
  readonly value: T;

  constructor(value: T) {
    this.value = value;
  }

  next(): IteratorReturnResult<T> {
    return { done: true, value: this.value };
  }

  [Symbol.iterator](): this {
    return this;
  }
}

export const done = <T>(value: T): Steps<T> => new Done(value);

/** For one actor alone: nothing comes in between, and no lock is ever waited for. */
export function runThrough<T>(steps: Steps<T>): T {
  for (;;) {
    const step = steps.next();
    if (step.done === true) return step.value;
  }
}

/** As `steps` give it, and then `then` of it. */
export function follow<T, R>(steps: Steps<T>, then: (result: T) => R): Steps<R> {
  return steps instanceof Done ? done(then(steps.value)) : following(steps, then);
}

function* following<T, R>(steps: Steps<T>, then: (result: T) => R): Steps<R> {
  return then(yield* steps);
}

/** `select … for update`: waits for each row in turn. */
export const lockAll = (tx: Transaction, rows: readonly Lockable[]): Steps<void> =>
  each(rows, (row) => (tx.tryLock(row) ? undefined : row));

/** `select … for update skip locked`. */
export const lockFree = <R extends Lockable>(tx: Transaction, rows: readonly R[]): R[] =>
  rows.filter((row) => tx.tryLock(row));

/**
 * `update … where`: each row that matches is locked, and looked at again once it is, because somebody may have changed
 * it while it was waited for.
 */
export function lockMatching<V, R extends Row<V>>(
  tx: Transaction,
  rows: readonly R[],
  matches: (version: V, row: R) => boolean,
): Steps<R[]> {
  const locked: R[] = [];
  const lock = (row: R): Lockable | undefined => {
    if (!matches(tx.read(row), row)) return undefined;
    if (!tx.tryLock(row)) return row;
    locked.push(row);
    return undefined;
  };
  return follow(each(rows, lock), () => locked);
}

/** As lockMatching, for rows that are each named with a key; each is written as soon as it is locked. */
export const updateWhere = <V, R extends Row<V>, K>(
  tx: Transaction,
  named: readonly { readonly row: R & Row<V>; readonly key: K }[],
  matches: (version: V, key: K) => boolean,
  write: (row: R, key: K) => void,
): Steps<void> =>
  each(named, ({ row, key }) => {
    if (!matches(tx.read<V>(row), key)) return undefined;
    if (!tx.tryLock(row)) return row;
    write(row, key);
    return undefined;
  });

const NOTHING = done<void>(undefined);

/** Does something with each; where it gives a lock that somebody else has, it is done again once that may be free. */
function each<E>(list: readonly E[], step: (element: E) => Lockable | undefined): Steps<void> {
  for (let at = 0; at < list.length; at++) {
    const lock = step(list[at] as E); // within the list
    if (lock !== undefined) return waitForEach(list, at, lock, step);
  }
  return NOTHING;
}

function* waitForEach<E>(
  list: readonly E[],
  from: number,
  first: Lockable,
  step: (element: E) => Lockable | undefined,
): Steps<void> {
  yield first;
  for (let at = from; at < list.length; at++) {
    for (let lock = step(list[at] as E); lock !== undefined; lock = step(list[at] as E)) yield lock; // within the list
  }
}
