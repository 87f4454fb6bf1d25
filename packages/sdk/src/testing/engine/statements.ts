// All statements of the store. An actor is given them, so that a test can give it a broken one and see that it is caught.
import { lockAll } from "./steps.ts";
import { waiting } from "./statement.ts";
import * as runs from "./run-statements.ts";
import * as tasks from "./task-statements.ts";
import * as waits from "./wait-statements.ts";

// The rows of attempts are for those who write statements.
const { rowsOf: _rowsOf, ...written } = tasks;

const lockCriticalSection = waiting("lock-critical-section", [], function* (tx) {
  yield* lockAll(tx, [tx.store.criticalSection]);
});

export const statements = { ...runs, ...written, ...waits, lockCriticalSection };
export type Statements = typeof statements;
