import { setTimeout as sleep } from "node:timers/promises";
import { inspect } from "node:util";

export interface WaitOptions {
  /** What is waited for, as the failure should say it: "task b is queued". */
  readonly what: string;
  /** A bound for what hangs, on a busy machine, not an expectation. @default 15000 */
  readonly timeoutMs?: number;
  /** @default 15 */
  readonly intervalMs?: number;
}

/**
 * Probes until the answer is truthy, and returns it. A probe that throws is asked again, too: the row or the
 * server may not be there yet. For what another process does; inside one process await its signal instead.
 */
export async function waitUntil<T>(probe: () => T | Promise<T>, options: WaitOptions): Promise<NonNullable<T>> {
  const { what, timeoutMs = 15_000, intervalMs = 15 } = options;
  const deadline = performance.now() + timeoutMs;
  let seen = "nothing";
  for (;;) {
    try {
      const value = await probe();
      if (value) return value;
      seen = inspect(value, { depth: 5 });
    } catch (error) {
      seen = `an error: ${error instanceof Error ? error.message : inspect(error)}`;
    }
    if (performance.now() >= deadline) throw new Error(`Waited ${timeoutMs} ms until ${what}; last seen: ${seen}`);
    await sleep(intervalMs);
  }
}
