import { done, TRAVEL, type Steps } from "./steps.ts";
import type { Transaction } from "./transaction.ts";

/** What a statement of packages/shared/src/db/statements does, done to the store; a test keeps names and edges equal. */
export interface MemoryStatement<P extends readonly unknown[], R> {
  (tx: Transaction, ...params: P): Steps<R>;
  readonly statement: string;
  /** Edges that it may make, as `from>to`. */
  readonly transitions: readonly string[];
}

/** A statement that may have to wait for locks. */
export const waiting = <P extends readonly unknown[], R>(
  name: string,
  transitions: readonly string[],
  run: (tx: Transaction, ...params: P) => Steps<R>,
): MemoryStatement<P, R> => {
  function* travelling(tx: Transaction, ...params: P): Steps<R> {
    yield TRAVEL;
    return yield* run(tx, ...params);
  }
  return Object.assign(
    (tx: Transaction, ...params: P) => (tx.store.isShared ? travelling(tx, ...params) : run(tx, ...params)),
    { statement: name, transitions },
  );
};

/** A statement that waits for nothing. */
export const instant = <P extends readonly unknown[], R>(
  name: string,
  transitions: readonly string[],
  run: (tx: Transaction, ...params: P) => R,
): MemoryStatement<P, R> => {
  function* travelling(tx: Transaction, ...params: P): Steps<R> {
    yield TRAVEL;
    return run(tx, ...params);
  }
  return Object.assign(
    (tx: Transaction, ...params: P) => (tx.store.isShared ? travelling(tx, ...params) : done(run(tx, ...params))),
    { statement: name, transitions },
  );
};
