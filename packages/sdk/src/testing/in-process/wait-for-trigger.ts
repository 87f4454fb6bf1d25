// What a triggerer does, for one deferred task of a run in this process: the triggers of time and of files, the file's
// own, and the pokes of sensors. The others need something beyond this process, and say so.
import type { Artifact, RunHost, TaskOutcome, TriggerOutcome, TriggerRunRequest } from "../../runtime/index.ts";
import { sleep } from "../../runtime/sleep.ts";
import { findFile } from "../../sensors/find-file.ts";

type Deferred = Extract<TaskOutcome, { readonly kind: "deferred" }>;

export interface TriggerWait {
  readonly artifact: Artifact;
  readonly wait: Pick<Deferred, "trigger" | "timeoutSeconds">;
  readonly attempt: TriggerRunRequest["attempt"];
  readonly hostOf: (signal: AbortSignal) => RunHost;
  /** Ends the wait; its reason is the message of the failure. */
  readonly signal: AbortSignal;
}

/** Never rejects. */
export async function waitForTrigger(asked: TriggerWait): Promise<TriggerOutcome | { readonly kind: "timeout" }> {
  const { timeoutSeconds } = asked.wait;
  const over = new AbortController();
  const signal = AbortSignal.any([asked.signal, over.signal]);
  const waits = [
    ending(runOne(asked, signal)),
    ending(endOf(signal)),
    ...(timeoutSeconds === undefined
      ? []
      : [ending(sleep(timeoutSeconds, signal).then(() => ({ kind: "timeout" as const })))]),
  ];
  try {
    return await Promise.race(waits);
  } finally {
    over.abort(new Error("nobody waits any more"));
  }
}

function ending<T>(outcome: Promise<T>): Promise<T | TriggerOutcome> {
  return outcome.catch((error: unknown) => {
    const { name, message } = error instanceof Error ? error : new Error(String(error));
    return { kind: "failed", error: { name, message } };
  });
}

async function runOne(asked: TriggerWait, signal: AbortSignal): Promise<TriggerOutcome> {
  const { trigger } = asked.wait;
  const { name, kwargs } = trigger;
  switch (name) {
    case "millrace.time": {
      const { at, afterSeconds } = kwargs;
      const moment = typeof at === "string" ? Date.parse(at) : Date.now() + Number(afterSeconds) * 1000;
      await sleep(Math.max(moment - Date.now(), 0) / 1000, signal);
      return { kind: "event", payload: { at: new Date(moment).toISOString() } };
    }
    case "millrace.file":
      for (;;) {
        const found = await findFile(String(kwargs["path"]));
        if (found !== undefined) return { kind: "event", payload: { ...found } };
        await sleep(Number(kwargs["pollSeconds"]), signal);
      }
    case "millrace.hitl":
      throw new Error("nobody can be asked while a DAG runs without services: run it with millrace standalone");
    default:
      if (name.startsWith("millrace.")) {
        throw new Error(
          `the trigger "${name}" needs a triggerer, and there is none while a DAG runs without services: run it with millrace standalone`,
        );
      }
      if (asked.artifact.runTrigger === undefined)
        throw new Error("the file was bundled for a version without triggers");
      return asked.artifact.runTrigger({ triggerId: 0, trigger, attempt: asked.attempt }, asked.hostOf(signal));
  }
}

function endOf(signal: AbortSignal): Promise<never> {
  return new Promise((_resolve, reject) => {
    const end = () => reject(signal.reason instanceof Error ? signal.reason : new Error(String(signal.reason)));
    if (signal.aborted) end();
    signal.addEventListener("abort", end);
  });
}
