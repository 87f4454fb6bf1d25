// One try of one task in this process, with its timeout. A handler in this process cannot be killed: one that does not
// heed its signal goes on in the background, while the try counts as failed.
import type { Artifact, RunRequest, TaskOutcome } from "../../runtime/index.ts";
import type { MemoryStore } from "./memory-store.ts";
import type { LogLevel } from "./test-run.ts";

export interface Attempt {
  readonly artifact: Artifact;
  readonly request: RunRequest;
  readonly store: MemoryStore;
  readonly executionTimeout: number | undefined;
  readonly log: (
    level: LogLevel,
    message: string,
    fields?: Parameters<Parameters<MemoryStore["hostOf"]>[1]>[2],
  ) => void;
  /** Ends it from outside; its reason is the message of the failure. */
  readonly signal: AbortSignal;
}

export async function runAttempt({
  artifact,
  request,
  store,
  executionTimeout,
  log,
  signal,
}: Attempt): Promise<TaskOutcome> {
  const controller = new AbortController();
  const stopped = new Promise<TaskOutcome>((resolve) => {
    controller.signal.addEventListener("abort", () => {
      // Only ever aborted with an Error, below.
      const { name, message } = controller.signal.reason as Error;
      resolve({ kind: "failed", retryable: !signal.aborted, error: { name, message } });
    });
  });
  const end = (error: Error) => controller.abort(error);
  const onAbort = () => end(signal.reason instanceof Error ? signal.reason : new Error("the run was stopped"));
  if (signal.aborted) onAbort();
  signal.addEventListener("abort", onAbort);
  const timer =
    executionTimeout === undefined
      ? undefined
      : setTimeout(() => end(timeout(executionTimeout)), executionTimeout * 1000);
  try {
    return await Promise.race([stopped, artifact.run(request, store.hostOf(controller.signal, log))]);
  } finally {
    clearTimeout(timer);
    signal.removeEventListener("abort", onAbort);
  }
}

function timeout(seconds: number): Error {
  const error = new Error(`it took longer than its executionTimeout of ${seconds} s`);
  error.name = "TaskTimeout";
  return error;
}
