// A trigger of the file, run in a triggerer to its event. Whatever it does ends up in the outcome.
import { isDagEnd } from "../authoring/node-ref.ts";
import type { TaskNode } from "../authoring/definition.ts";
import type { DagStructure } from "../reading/read-dag.ts";
import { taskOptions } from "../reading/read-task.ts";
import { TaskEnd } from "../triggers/end-task.ts";
import type { TriggerCode } from "../triggers/registry.ts";
import { encodeValue } from "../values/codec.ts";
import { encodeJson } from "../values/encode-json.ts";
import { createClient } from "./create-client.ts";
import { decides } from "./decide.ts";
import { describeError, outcomeOf } from "./outcome-of-error.ts";
import type { RunHost, RunRequest, TriggerEnd, TriggerOutcome, TriggerRunRequest } from "./protocol.ts";
import { assertRunning, runScopes, type RunScope } from "./run-scope.ts";
import { SENSOR_POKE } from "./sensor-poke.ts";
import { contextOf } from "./task-context.ts";

/** What the file has to offer: the task that waits, or why it cannot be had, and its triggers. */
export interface TriggerSources {
  /** No task: it watches an asset. */
  readonly found: { readonly structure: DagStructure; readonly task: TaskNode | undefined } | string;
  readonly triggers: ReadonlyMap<string, TriggerCode>;
}

/** Never rejects. Ends when the host's signal does, whatever the trigger makes of it. */
export async function runTrigger(
  { found, triggers }: TriggerSources,
  request: TriggerRunRequest,
  host: RunHost,
): Promise<TriggerOutcome> {
  const { name } = request.trigger;
  if (typeof found === "string") return failed("TriggerNotFound", `trigger "${name}": ${found}`);
  const asTask: RunRequest = { ...request.attempt, inputs: {} };
  const scope: RunScope = {
    context: contextOf(asTask, host.signal),
    client: createClient(asTask, host, (asked) => assertRunning(scope, asked)),
    host,
    owners: found.structure.spec.owners,
    hasEnded: false,
  };
  try {
    host.signal.throwIfAborted();
    return await untilAborted(host.signal, () => {
      return runScopes.run(scope, async () =>
        name === SENSOR_POKE && found.task !== undefined
          ? poke(found.task, request, scope)
          : runOwn(found.task, triggers, request, scope),
      );
    });
  } catch (thrown) {
    return { kind: "failed", error: describeError(thrown) };
  } finally {
    scope.hasEnded = true;
  }
}

const failed = (name: string, message: string): TriggerOutcome => ({ kind: "failed", error: { name, message } });

async function runOwn(
  task: TaskNode | undefined,
  triggers: ReadonlyMap<string, TriggerCode>,
  request: TriggerRunRequest,
  scope: RunScope,
): Promise<TriggerOutcome> {
  const { name, kwargs } = request.trigger;
  const code = triggers.get(name);
  if (code === undefined) {
    const known = [...triggers.keys()].map((key) => `"${key}"`).join(", ");
    const has = known === "" ? "it defines none" : `it defines ${known}`;
    return failed("TriggerNotFound", `the file of DAG "${request.attempt.dagId}" has no trigger "${name}"; ${has}`);
  }
  const { context, client, host } = scope;
  // The kwargs are what the constructor of the same trigger was given; its types are those of `run`.
  const result = code.run(kwargs as never, { signal: host.signal, log: host.log.bind(host), task: context, client });
  const event = isAsyncIterable(result) ? await firstOf(name, result) : await result;
  return event instanceof TaskEnd ? endOf(task, name, request, event.end) : eventOf(name, request, event);
}

function eventOf(name: string, request: TriggerRunRequest, event: unknown): TriggerOutcome {
  return { kind: "event", payload: encode(name, "the event", request, event ?? null) };
}

function endOf(
  task: TaskNode | undefined,
  name: string,
  request: TriggerRunRequest,
  { value, ...end }: TaskEnd["end"],
): TriggerEnd {
  if (end.state !== "success") return end;
  if (task !== undefined && decides(task)) {
    throw new TypeError(`trigger "${name}" cannot end task "${task.id}", which decides a branch: let it have an event`);
  }
  const pushes = task === undefined || (taskOptions(task).doXcomPush ?? true);
  return pushes && value !== undefined
    ? { ...end, value: encode(name, "the value", request, value, encodeValue) }
    : end;
}

function encode(name: string, what: string, request: TriggerRunRequest, value: unknown, by = encodeJson) {
  if (isDagEnd(value)) throw new TypeError(`trigger "${name}": ${what} is a task's reference, which is no value`);
  try {
    return by(value, request.attempt.maxXComBytes);
  } catch (error) {
    const why = error instanceof Error ? error.message : String(error);
    throw new TypeError(`trigger "${name}": ${what} cannot be stored: ${why}`, { cause: error });
  }
}

/** A sensor's own ends are those of its task, and need no worker unless its value decides a branch. */
async function poke(task: TaskNode, request: TriggerRunRequest, scope: RunScope): Promise<TriggerOutcome> {
  const { name, kwargs } = request.trigger;
  const { watch } = task.body;
  if (watch === undefined) return failed("TriggerNotFound", `task "${task.id}" is no sensor that pokes in a triggerer`);
  try {
    const value = await watch(kwargs, scope);
    return decides(task)
      ? eventOf(name, request, value === undefined ? {} : { value })
      : endOf(task, name, request, { kind: "end", state: "success", value });
  } catch (thrown) {
    scope.host.signal.throwIfAborted();
    const outcome = outcomeOf(thrown);
    if (outcome.kind === "skipped") return { kind: "end", state: "skipped", message: outcome.message };
    if (outcome.kind !== "failed") throw thrown;
    const { error, retryable } = outcome;
    scope.host.log("error", error.stack ?? `${error.name}: ${error.message}`);
    return { kind: "end", state: "failed", message: `${error.name}: ${error.message}`, retryable };
  }
}

function isAsyncIterable(value: unknown): value is AsyncIterable<unknown> {
  return typeof value === "object" && value !== null && Symbol.asyncIterator in value;
}

/** Leaving the loop closes the iterable, so that its `finally` runs. */
async function firstOf(name: string, events: AsyncIterable<unknown>): Promise<unknown> {
  for await (const event of events) return event;
  throw new Error(`trigger "${name}" ended without an event`);
}

async function untilAborted<T>(signal: AbortSignal, run: () => Promise<T>): Promise<T> {
  let onAbort: (() => void) | undefined;
  const aborted = new Promise<never>((_resolve, reject) => {
    onAbort = () => reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)));
    signal.addEventListener("abort", onAbort);
  });
  try {
    return await Promise.race([run(), aborted]);
  } finally {
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  }
}
