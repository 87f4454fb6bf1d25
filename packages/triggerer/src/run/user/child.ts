// The process in which the triggers of one artifact run, all on one event loop. It knows at each moment whose code runs, by
// the asynchronous context in which that was started: so what is printed, thrown astray or blocks is laid to its trigger.
// Plain program: see plainProgram. Arguments: warnMs, maxMs.
import { AsyncResource, createHook, executionAsyncResource } from "node:async_hooks";
import { once } from "node:events";
import { writeSync } from "node:fs";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type { Artifact, RunHost, TriggerOutcome } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import { LOADING, NOBODY, NOTICES_FD, type Call, type FromChild, type Notice, type ToChild } from "./ipc.ts";
import { WATCH_EVERY_MS, WATCHDOG } from "./watchdog.ts";

const OWNER = Symbol("trigger");
interface Owned {
  [OWNER]?: number;
}

const cells = new Int32Array(new SharedArrayBuffer(8));
const [warnMs = 200, maxMs = 2_000] = process.argv.slice(2).map(Number);
const watchdog = new Worker(WATCHDOG, { eval: true, workerData: { cells, warnMs, maxMs, fd: NOTICES_FD } });
watchdog.unref();
/** No trigger runs before somebody watches. */
const isWatched = once(watchdog, "message");
setInterval(() => {
  running.length = 0;
  Atomics.add(cells, 0, 1);
}, WATCH_EVERY_MS);

const owner = (): number => (executionAsyncResource() as Owned)[OWNER] ?? NOBODY;
/** Whose code runs, innermost last. */
const running: number[] = [];
createHook({
  init: (_id, _type, _by, resource) => {
    const mine = (executionAsyncResource() as Owned)[OWNER];
    if (mine !== undefined) (resource as Owned)[OWNER] = mine;
  },
  before: () => {
    const mine = owner();
    running.push(mine);
    Atomics.store(cells, 1, mine);
  },
  after: () => {
    running.pop();
    Atomics.store(cells, 1, running.at(-1) ?? NOBODY);
  },
}).enable();

function asOwner<T>(id: number, work: () => Promise<T>): Promise<T> {
  const scope = new AsyncResource("MILLRACE_TRIGGER");
  (scope as unknown as Owned)[OWNER] = id;
  return scope.runInAsyncScope(work);
}

Error.stackTraceLimit = 50;
const toTriggerer = process.send?.bind(process);
const send = (message: FromChild) => toTriggerer?.(message);
delete process.send;

interface Active {
  readonly abort: AbortController;
}
const active = new Map<number, Active>();
let nextCall = 0;
const waiting = new Map<number, { resolve: (value: Json | undefined) => void; reject: (error: Error) => void }>();

function call(triggerId: number, what: Call): Promise<Json | undefined> {
  const id = nextCall++;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    send({ type: "call", id, triggerId, ...what });
  });
}

const hostOf = (triggerId: number, signal: AbortSignal): RunHost => ({
  signal,
  log: (level, message, fields) =>
    send({ type: "log", triggerId, level, logger: "task", message, ...(fields === undefined ? {} : { fields }) }),
  mask: (secret) => send({ type: "mask", secret }),
  getXCom: async (params) => await call(triggerId, { method: "getXCom", params }),
  setXCom: () => Promise.reject(new Error("a trigger sets no XComs: give the value with its event")),
  getVariable: async (key) => (await call(triggerId, { method: "getVariable", params: { key } })) as string | undefined,
  setVariable: async (key, value, description) =>
    void (await call(triggerId, {
      method: "setVariable",
      params: { key, value, ...(description === undefined ? {} : { description }) },
    })),
  deleteVariable: async (key) => void (await call(triggerId, { method: "deleteVariable", params: { key } })),
  // The triggerer answers this method with a connection, and the others with JSON.
  getConnection: async (connectionId) =>
    (await call(triggerId, { method: "getConnection", params: { connectionId } })) as Awaited<
      ReturnType<RunHost["getConnection"]>
    >,
});

for (const [stream, logger, level] of [
  [process.stdout, "task.stdout", "info"],
  [process.stderr, "task.stderr", "error"],
] as const) {
  /** The beginning of a line that is not yet whole, by trigger. */
  const rests = new Map<number, string>();
  stream.write = (chunk: string | Uint8Array, ...more: unknown[]): boolean => {
    const triggerId = owner();
    const text = typeof chunk === "string" ? chunk : Buffer.from(chunk).toString("utf8");
    const lines = ((rests.get(triggerId) ?? "") + text).split("\n");
    const rest = lines.pop() ?? "";
    if (rest === "") rests.delete(triggerId);
    else rests.set(triggerId, rest);
    for (const message of lines) send({ type: "log", triggerId, level, logger, message });
    const done = more.find((argument) => typeof argument === "function") as (() => void) | undefined;
    done?.();
    return true;
  };
}

const failure = (thrown: unknown): TriggerOutcome => {
  const { name, message, stack = "" } = thrown instanceof Error ? thrown : new Error(String(thrown));
  return { kind: "failed", error: { name, message, stack } };
};

function finish(triggerId: number, outcome: TriggerOutcome): void {
  if (!active.delete(triggerId)) return;
  try {
    send({ type: "outcome", triggerId, outcome });
  } catch (error) {
    // What JSON cannot say.
    send({ type: "outcome", triggerId, outcome: failure(error) });
  }
}

let loaded: Promise<{ readonly artifact: Artifact }> | undefined;

function load(path: string): Promise<{ readonly artifact: Artifact }> {
  loaded ??= asOwner(LOADING, async () => (await import(pathToFileURL(path).href)) as { readonly artifact: Artifact });
  return loaded;
}

async function start({ artifactPath, request }: Extract<ToChild, { type: "start" }>): Promise<void> {
  const { triggerId, trigger } = request;
  const abort = new AbortController();
  active.set(triggerId, { abort });
  try {
    await isWatched;
    const { artifact } = await load(artifactPath);
    if (abort.signal.aborted) return;
    const { runTrigger } = artifact;
    if (runTrigger === undefined) {
      const message = `there is no trigger ${trigger.name}: this version of the DAG is older than triggers`;
      finish(triggerId, { kind: "failed", error: { name: "TriggerNotFound", message } });
      return;
    }
    const host = hostOf(triggerId, abort.signal);
    finish(triggerId, await asOwner(triggerId, async () => await runTrigger.call(artifact, request, host)));
  } catch (thrown) {
    finish(triggerId, failure(thrown));
  }
}

// Thrown where no trigger of it hears of it: in a timer, in a promise that nobody waits for.
function astray(who: number, thrown: unknown): void {
  if (active.has(who)) {
    const { abort } = active.get(who) as Active;
    finish(who, failure(thrown));
    abort.abort(new Error("the trigger failed"));
  } else if (who === NOBODY || who === LOADING) {
    send({ type: "log", triggerId: NOBODY, level: "error", logger: "task.stderr", message: String(thrown) });
    setImmediate(() => exit(1));
  }
}
process.on("uncaughtException", (error) => astray(owner(), error));
process.on("unhandledRejection", (reason, promise) => astray((promise as Owned)[OWNER] ?? NOBODY, reason));

const notify = (notice: Notice) => writeSync(NOTICES_FD, `${JSON.stringify(notice)}\n`);
const exit = process.exit.bind(process);
process.exit = (code?: string | number | null): never => {
  notify({ type: "exit", triggerId: owner(), code: Number(code ?? 0) });
  return exit(code);
};

process.on("message", (message: ToChild) => {
  switch (message.type) {
    case "start":
      void start(message);
      break;
    case "abort":
      active.get(message.triggerId)?.abort.abort(new Error(message.reason));
      active.delete(message.triggerId);
      break;
    case "reply":
      waiting.get(message.id)?.resolve(message.value as Json | undefined);
      waiting.delete(message.id);
      break;
    case "refuse":
      waiting.get(message.id)?.reject(new Error(message.message));
      waiting.delete(message.id);
      break;
  }
});
process.on("disconnect", () => exit(0));
send({ type: "ready" });
