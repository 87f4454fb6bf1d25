import { systemClock, type Clock, type Timer } from "./clock.ts";
import type { Service } from "./service.ts";

export interface PeriodicOptions {
  readonly everyMs: number;
  readonly run: () => Promise<void>;
  /** A failed round is told here; the next one comes all the same. */
  readonly onError: (error: unknown) => void;
  readonly clock?: Clock;
}

/** Runs something again and again, never twice at once: the pause is counted from the end of a round. */
export class Periodic implements Service {
  readonly #options: PeriodicOptions;
  #timer: Timer | undefined;
  #running: Promise<void> | undefined;
  #stopped = true;

  constructor(options: PeriodicOptions) {
    this.#options = options;
  }

  start(): Promise<void> {
    if (this.#stopped) {
      this.#stopped = false;
      this.#schedule();
    }
    return Promise.resolve();
  }

  async stop(): Promise<void> {
    this.#stopped = true;
    this.#timer?.cancel();
    this.#timer = undefined;
    await this.#running;
  }

  /** INVARIANT: a timer or a round under way, never both: a start during a stop waits for the round that is ending. */
  #schedule(): void {
    if (this.#stopped || this.#timer !== undefined || this.#running !== undefined) return;
    this.#timer = (this.#options.clock ?? systemClock).after(this.#options.everyMs, () => {
      this.#timer = undefined;
      this.#running = this.#round().finally(() => {
        this.#running = undefined;
        this.#schedule();
      });
    });
  }

  async #round(): Promise<void> {
    try {
      await this.#options.run();
    } catch (error) {
      this.#options.onError(error);
    }
  }
}
