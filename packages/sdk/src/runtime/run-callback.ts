// Callbacks, run where a handler would: with a context and a client, and with nothing that they throw reaching further
// than the log.
import type { DagCallbackEvent } from "../authoring/dag-options.ts";
import type { TaskCallbackEvent } from "../authoring/task-options.ts";
import type { DagStructure } from "../reading/read-dag.ts";
import { createClient } from "./create-client.ts";
import { describeError } from "./outcome-of-error.ts";
import type { CallbackOutcome, CallbackRequest, RunHost, RunRequest } from "./protocol.ts";
import { assertRunning, runScopes, type RunScope } from "./run-scope.ts";
import { contextOf } from "./task-context.ts";

/** What an option for callbacks holds: a function, several, or nothing. */
export const listOf = <F>(option: F | readonly F[] | undefined): readonly F[] =>
  option === undefined ? [] : Array.isArray(option) ? (option as readonly F[]) : [option as F];

/** Calls one after the other within `scope`, whatever the ones before it did, and gives what was thrown. */
export async function callEach<E>(
  functions: readonly ((event: E) => unknown)[],
  event: E,
  scope: RunScope,
): Promise<unknown[]> {
  const thrown: unknown[] = [];
  for (const callback of functions) {
    try {
      scope.host.signal.throwIfAborted();
      await runScopes.run(scope, async () => callback(event));
    } catch (error) {
      thrown.push(error);
    }
  }
  return thrown;
}

/** Runs all functions that the file gives for one kind of callback. Never rejects. */
export async function runCallbacks<E>(
  functions: readonly ((event: E) => unknown)[],
  event: E,
  dag: DagStructure,
  request: CallbackRequest,
  host: RunHost,
): Promise<CallbackOutcome> {
  if (functions.length === 0) {
    const message = `${request.taskId ?? `DAG "${request.dagId}"`} has no ${request.kind}`;
    return { kind: "failed", errors: [{ name: "CallbackNotFound", message }] };
  }
  const asTask: RunRequest = { ...request, taskId: request.taskId ?? "", inputs: {} };
  const context = contextOf(asTask, host.signal);
  const scope: RunScope = {
    context: Object.freeze({
      ...context,
      idempotencyKey: request.key,
      stableIdempotencyKey: `${context.stableIdempotencyKey}/${request.kind}`,
    }),
    client: createClient(asTask, host, (asked) => assertRunning(scope, asked)),
    host,
    owners: dag.spec.owners,
    hasEnded: false,
  };
  try {
    const errors = (await callEach(functions, event, scope)).map(describeError);
    return errors.length === 0 ? { kind: "success" } : { kind: "failed", errors };
  } finally {
    scope.hasEnded = true;
  }
}

/** @param taskId that of the request, which is null for a DAG's callback */
export function taskEventOf(request: CallbackRequest, taskId: string): TaskCallbackEvent {
  const { dagId, runId, mapIndex, tryNumber, key, reason, error } = request;
  return Object.freeze({
    ...{ dagId, taskId, runId, mapIndex, tryNumber, key },
    ...(reason === null ? {} : { reason }),
    ...(error === null ? {} : { error }),
  });
}

export function dagEventOf(request: CallbackRequest): DagCallbackEvent {
  const { dagId, runId, key, runState, reason } = request;
  return Object.freeze({ dagId, runId, key, state: runState, reason: reason ?? "marked" });
}
