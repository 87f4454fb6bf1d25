// Starting in steps, each told with its milliseconds; what was started is stopped in the opposite order, also when a
// later step fails or the user interrupts.
import { messageOf } from "@millrace/shared/errors";
import { Ended } from "../io/report-error.ts";

interface Started {
  readonly name: string;
  /** Too small to be told about. */
  readonly isQuiet: boolean;
  readonly stop: () => Promise<void>;
}

export interface Part {
  readonly name: string;
  readonly start: () => Promise<void>;
  /** Also called when its start failed. */
  readonly stop: () => Promise<void>;
}

export class Steps {
  readonly #say: (line: string) => void;
  readonly #signal: AbortSignal;
  readonly #started: Started[] = [];
  readonly #begin = performance.now();

  constructor(say: (line: string) => void, signal: AbortSignal) {
    this.#say = say;
    this.#signal = signal;
  }

  /** Milliseconds since the first step. */
  get elapsedMs(): number {
    return performance.now() - this.#begin;
  }

  /** @throws Ended when the user interrupts: the step itself is still waited for, so that it can be undone. */
  async run<T>(name: string, start: () => Promise<T>, stop?: (made: T) => Promise<void>): Promise<T> {
    if (this.#signal.aborted) throw new Ended(0);
    const begin = performance.now();
    const made = await start();
    if (stop !== undefined) this.#started.push({ name, isQuiet: false, stop: () => stop(made) });
    this.#say(line(name, performance.now() - begin));
    if (this.#signal.aborted) throw new Ended(0);
    return made;
  }

  /** Parts that do not need each other to start, all at once; they stop one after the other, the last of them first. */
  async together(parts: readonly Part[]): Promise<void> {
    if (this.#signal.aborted) throw new Ended(0);
    const results = await Promise.allSettled(
      parts.map(async ({ name, start }) => {
        const begin = performance.now();
        await start();
        this.#say(line(name, performance.now() - begin));
      }),
    );
    // Those that failed half-way, too: whatever they began is ended with the rest.
    for (const { name, stop } of parts) this.#started.push({ name, isQuiet: false, stop });
    for (const result of results) if (result.status === "rejected") throw result.reason;
    if (this.#signal.aborted) throw new Ended(0);
  }

  /** Something that stops with the rest, without a step of its own. */
  onStop(name: string, stop: () => Promise<void>): void {
    this.#started.push({ name, isQuiet: true, stop });
  }

  /** Goes on after one that fails, so that nothing is left. */
  async stop(): Promise<void> {
    for (let part = this.#started.pop(); part !== undefined; part = this.#started.pop()) {
      const begin = performance.now();
      try {
        await part.stop();
        if (!part.isQuiet) this.#say(line(`${part.name} stopped`, performance.now() - begin));
      } catch (error) {
        this.#say(`  ${part.name} did not stop cleanly: ${messageOf(error)}`);
      }
    }
  }
}

const line = (what: string, ms: number): string => `  ${what.padEnd(34)}${ms.toFixed(0).padStart(6)} ms`;
