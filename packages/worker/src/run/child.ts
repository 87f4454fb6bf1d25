// The warm process that runs handlers and callbacks, one at a time. It imports the artifact of an attempt once, runs the
// handler and tells the outcome; whatever the handler asks for goes to the worker. Plain program: see plainProgram.
import { StringDecoder } from "node:string_decoder";
import { pathToFileURL } from "node:url";
import { Worker } from "node:worker_threads";
import type {
  Artifact,
  AssetEventData,
  CallbackOutcome,
  ExternalState,
  PreviousRun,
  RenderOutcome,
  RunHost,
  SqlResult,
  TaskOutcome,
  TriggeredDagRun,
} from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import type { Call, FromChild, ToChild } from "./ipc.ts";

// A handler that blocks the event loop, and the process groups it started, must not outlive a worker that was killed;
// only another thread can notice.
const WATCHDOG = `const { parentPort } = require("node:worker_threads");
const parent = process.ppid;
const groups = new Set();
parentPort.on("message", ([pid, what]) => (what === "started" ? groups.add(pid) : groups.delete(pid)));
setInterval(() => {
  if (process.ppid === parent) return;
  for (const pid of groups) { try { process.kill(-pid, "SIGKILL"); } catch {} }
  process.kill(process.pid, "SIGKILL");
}, 500);`;
const watchdog = new Worker(WATCHDOG, { eval: true });
watchdog.unref();

Error.stackTraceLimit = 50;
const toWorker = process.send?.bind(process);
const send = (message: FromChild) => toWorker?.(message);
delete process.send;

let abort = new AbortController();
let nextCall = 0;
const waiting = new Map<number, { resolve: (value: Json | undefined) => void; reject: (error: Error) => void }>();

function call(what: Call): Promise<Json | undefined> {
  const id = nextCall++;
  return new Promise((resolve, reject) => {
    waiting.set(id, { resolve, reject });
    send({ type: "call", id, ...what });
  });
}

const hostOf = (signal: AbortSignal): RunHost => ({
  signal,
  log: (level, message, fields) =>
    send({ type: "log", level, logger: "task", message, ...(fields === undefined ? {} : { fields }) }),
  processGroup: (pid, what) => {
    watchdog.postMessage([pid, what]);
    send({ type: "group", pid, what });
  },
  mask: (secret) => send({ type: "mask", secret }),
  getXCom: async (params) => await call({ method: "getXCom", params }),
  setXCom: async (params) => void (await call({ method: "setXCom", params })),
  getMappedXComs: async (params) => (await call({ method: "getMappedXComs", params })) as readonly Json[],
  getVariable: async (key) => (await call({ method: "getVariable", params: { key } })) as string | undefined,
  setVariable: async (key, value, description) =>
    void (await call({
      method: "setVariable",
      params: { key, value, ...(description === undefined ? {} : { description }) },
    })),
  deleteVariable: async (key) => void (await call({ method: "deleteVariable", params: { key } })),
  // The worker answers these methods with what they are declared to give.
  triggerDagRun: async (params) => (await call({ method: "triggerDagRun", params })) as unknown as TriggeredDagRun,
  getRunState: async (dagId, runId) =>
    (await call({ method: "getRunState", params: { dagId, runId } })) as string | undefined,
  getExternalStates: async (params) =>
    (await call({ method: "getExternalStates", params })) as unknown as readonly ExternalState[],
  getAssetEvents: async (params) =>
    (await call({ method: "getAssetEvents", params })) as unknown as readonly AssetEventData[],
  getAssetState: async (asset, key) => await call({ method: "getAssetState", params: { asset, key } }),
  setAssetState: async (asset, key, value) =>
    void (await call({ method: "setAssetState", params: { asset, key, value } })),
  deleteAssetState: async (asset, key) => void (await call({ method: "deleteAssetState", params: { asset, key } })),
  setMapIndexLabel: async (label) => void (await call({ method: "setMapIndexLabel", params: { label } })),
  setRenderedFields: async (fields) => void (await call({ method: "setRenderedFields", params: { fields } })),
  getPreviousSuccess: async () =>
    (await call({ method: "getPreviousSuccess", params: {} })) as unknown as PreviousRun | undefined,
  runSql: async (params) => (await call({ method: "runSql", params })) as unknown as readonly SqlResult[],
  getConnection: async (connectionId) =>
    (await call({ method: "getConnection", params: { connectionId } })) as Awaited<
      ReturnType<RunHost["getConnection"]>
    >,
});

const flushes: (() => void)[] = [];

// What a handler prints goes through the same channel as its outcome, so that it always comes before it.
for (const [stream, logger, level] of [
  [process.stdout, "task.stdout", "info"],
  [process.stderr, "task.stderr", "error"],
] as const) {
  let rest = "";
  // A chunk may end within a character.
  const decoder = new StringDecoder("utf8");
  stream.write = (chunk: string | Uint8Array, ...more: unknown[]): boolean => {
    const lines = (rest + (typeof chunk === "string" ? chunk : decoder.write(Buffer.from(chunk)))).split("\n");
    rest = lines.pop() ?? "";
    for (const message of lines) send({ type: "log", level, logger, message });
    const done = more.find((argument) => typeof argument === "function") as (() => void) | undefined;
    done?.();
    return true;
  };
  flushes.push(() => {
    rest += decoder.end();
    if (rest !== "") send({ type: "log", level, logger, message: rest });
    rest = "";
  });
}

const RSS_EVERY = 16;
let finished = 0;
let rssBytes = 0;

/** Modules by path: asking the loader again for one that it has costs more than a small handler. */
const loaded = new Map<string, Promise<{ readonly artifact: Artifact }>>();

async function load(path: string): Promise<Artifact> {
  let module = loaded.get(path);
  if (module === undefined) {
    module = import(pathToFileURL(path).href) as Promise<{ readonly artifact: Artifact }>;
    loaded.set(path, module);
    // A file that could not be read may be there the next time.
    module.catch(() => loaded.delete(path));
  }
  return (await module).artifact;
}

async function run({ artifactPath, request }: Extract<ToChild, { type: "run" }>): Promise<void> {
  abort = new AbortController();
  try {
    const artifact = await load(artifactPath);
    const outcome = await artifact.run(request, hostOf(abort.signal));
    finish(outcome);
  } catch (thrown) {
    const error = thrown instanceof Error ? thrown : new Error(String(thrown));
    finish({
      kind: "failed",
      retryable: true,
      error: { name: error.name, message: error.message, stack: error.stack ?? "" },
    });
  }
}

async function runCallback({ artifactPath, request }: Extract<ToChild, { type: "callback" }>): Promise<void> {
  abort = new AbortController();
  let outcome: CallbackOutcome;
  try {
    const artifact = await load(artifactPath);
    outcome = (await artifact.runCallback?.(request, hostOf(abort.signal))) ?? {
      kind: "failed",
      errors: [{ name: "CallbackNotFound", message: "this version of the DAG is older than callbacks" }],
    };
  } catch (thrown) {
    const { name, message, stack = "" } = thrown instanceof Error ? thrown : new Error(String(thrown));
    outcome = { kind: "failed", errors: [{ name, message, stack }] };
  }
  finish(outcome);
}

async function render({ artifactPath, request }: Extract<ToChild, { type: "render" }>): Promise<void> {
  abort = new AbortController();
  let outcome: RenderOutcome;
  try {
    const artifact = await load(artifactPath);
    outcome = (await artifact.render?.(request, hostOf(abort.signal))) ?? {
      kind: "failed",
      error: { name: "NotRendered", message: "this version of the DAG is older than templates" },
    };
  } catch (thrown) {
    const { name, message, stack = "" } = thrown instanceof Error ? thrown : new Error(String(thrown));
    outcome = { kind: "failed", error: { name, message, stack } };
  }
  finish(outcome);
}

function finish(outcome: TaskOutcome | CallbackOutcome | RenderOutcome): void {
  for (const flush of flushes) flush();
  waiting.clear();
  // Reading it costs as much as a small handler.
  if (finished++ % RSS_EVERY === 0) rssBytes = process.memoryUsage.rss();
  send({ type: "outcome", outcome, rssBytes });
}

process.on("message", (message: ToChild) => {
  switch (message.type) {
    case "run":
      void run(message);
      break;
    case "callback":
      void runCallback(message);
      break;
    case "render":
      void render(message);
      break;
    case "abort":
      abort.abort(Object.assign(new Error(message.reason), { name: message.name }));
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
send({ type: "ready" });
