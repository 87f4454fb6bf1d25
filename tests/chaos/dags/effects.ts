// What the load's handlers leave behind outside of Postgres: one line an event, appended whole.
import { appendFileSync } from "node:fs";
import { getContext } from "@millrace/sdk";

const FILE = process.env["CHAOS_EFFECTS"] ?? "/dev/null";

export function note(event: string, more: Readonly<Record<string, unknown>> = {}): void {
  const { idempotencyKey, dagId, runId, taskId, mapIndex, tryNumber } = getContext();
  const line = {
    event,
    key: idempotencyKey,
    dagId,
    runId,
    taskId,
    mapIndex,
    tryNumber,
    pid: process.pid,
    at: Date.now(),
    ...more,
  };
  appendFileSync(FILE, `${JSON.stringify(line)}\n`);
}

const TICK_MS = 300;

/** Works for a while, and says so; gives the key of this try, so that a value tells whose it is. */
export async function work(ms: number, { isStarted = false } = {}): Promise<string> {
  const { idempotencyKey, signal } = getContext();
  if (!isStarted) note("start");
  const ticks = setInterval(() => note("tick"), TICK_MS);
  await new Promise<void>((resolve, reject) => {
    const timer = setTimeout(resolve, ms);
    signal.addEventListener("abort", () => {
      clearTimeout(timer);
      reject(new Error("stopped"));
    });
  }).finally(() => clearInterval(ticks));
  note("end");
  return idempotencyKey;
}

export async function failAfter(ms: number): Promise<never> {
  note("start");
  await new Promise((resolve) => setTimeout(resolve, ms));
  note("throw");
  throw new Error("as planned");
}
