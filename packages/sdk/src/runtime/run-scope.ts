// What surrounds a running handler, carried by AsyncLocalStorage through everything that it awaits.
import { AsyncLocalStorage } from "node:async_hooks";
import type { TaskClient } from "./task-client.ts";
import type { RunHost, Waited } from "./protocol.ts";
import type { TaskContext } from "./task-context.ts";
import type { DagSpec, Json, TaskSpec } from "../spec/index.ts";

export interface RunScope {
  readonly context: TaskContext;
  readonly client: TaskClient;
  readonly host: RunHost;
  /** The owners of the DAG's tasks. */
  readonly owners: readonly string[];
  /** False when a later run of the schedule is due already. */
  readonly isLatestRun?: boolean;
  /** Present when this try has waited before. */
  readonly waited?: Waited;
  /** Whether a worker has to judge the task's value, because it decides a branch. */
  readonly decides?: boolean;
  /** The largest value that can be stored. Default: that of `encodeJson`. */
  readonly maxXComBytes?: number;
  /** What templates are told about. Absent where none are rendered. */
  readonly dag?: DagSpec;
  readonly taskSpec?: TaskSpec;
  /** Set when the handler is done: what it left running must not write for a finished attempt. */
  hasEnded: boolean;
}

/** A context or client was asked for where no handler is running. */
export class NoRunningTask extends Error {
  override readonly name: string = "NoRunningTask";
}

export const runScopes = new AsyncLocalStorage<RunScope>();

function currentScope(asked: string): RunScope {
  const scope = runScopes.getStore();
  if (scope === undefined) {
    throw new NoRunningTask(
      `${asked} works only while a task's handler runs: call it inside the handler, not in the file`,
    );
  }
  assertRunning(scope, asked);
  return scope;
}

/** @throws NoRunningTask when the handler that `scope` belongs to is done */
export function assertRunning(scope: RunScope, asked: string): void {
  if (scope.hasEnded) {
    const { taskId } = scope.context;
    throw new NoRunningTask(
      `${asked} was called after the handler of "${taskId}" had ended: await everything it starts`,
    );
  }
}

/**
 * What the running handler is: its ids, dates, params, and the signal that tells it to stop.
 *
 * @throws NoRunningTask outside of a handler, and after its end
 */
export function getContext(): TaskContext {
  return currentScope("getContext()").context;
}

/**
 * XComs, variables and connections for the running handler.
 *
 * @throws NoRunningTask outside of a handler, and after its end
 */
export function getClient(): TaskClient {
  return currentScope("getClient()").client;
}

/**
 * Hides a value in the task's logs and error messages from the next line on, in each form in which it is likely to be
 * written (within JSON, within an address, as base64). Passwords of connections and variables with names of secrets are
 * hidden without being told; this is for values that come from elsewhere, as Airflow's `mask_secret`.
 *
 * @param secret a text or a number; of an object or a list, every text and number in it. Values under 5 characters are
 *   not hidden, unless the installation says otherwise: they would hide ordinary words.
 * @throws NoRunningTask outside of a handler, and after its end
 */
export function mask(secret: unknown): void {
  const { host } = currentScope("mask()");
  if (secret === undefined || secret === null) return;
  const text = JSON.stringify(typeof secret === "bigint" ? String(secret) : secret) as string | undefined;
  if (text !== undefined) host.mask?.(JSON.parse(text) as Json); // what JSON.parse returns is Json
}
