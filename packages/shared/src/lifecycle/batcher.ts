// Adaptive batching: what arrives while a flush is under way goes with the next one, what arrives when idle
// is flushed at once. So a lone item waits for nothing and a flood costs one round trip per `maxItems`.

import { systemClock, type Clock, type Timer } from "./clock.ts";

export interface BatcherOptions<T, R> {
  /** One result for each item, in their order. A rejection rejects every item of the batch. */
  readonly flush: (items: readonly T[]) => Promise<readonly R[]>;
  readonly maxItems: number;
  /** Flushes under way at once. Default 1. */
  readonly lanes?: number;
  /**
   * How long a lane rests after a flush of `BUSY` items or more, so that a flood comes in fewer and larger ones: what a
   * statement costs by itself is shared by more items. Milliseconds; a lone item never waits for it. Default 0.
   */
  readonly restMs?: number;
  /** So many items end a rest: there is little to be won by more of them. Default: none do. */
  readonly enough?: number;
  readonly clock?: Clock;
}

const BUSY = 4;

interface Entry<T, R> {
  readonly item: T;
  readonly resolve: (result: R) => void;
  readonly reject: (error: unknown) => void;
}

export class Batcher<T, R> {
  readonly #options: BatcherOptions<T, R>;
  readonly #waiting: Entry<T, R>[] = [];
  readonly #resting = new Set<Timer>();
  #active = 0;
  #idle: (() => void)[] = [];

  constructor(options: BatcherOptions<T, R>) {
    this.#options = options;
  }

  add(item: T): Promise<R> {
    return new Promise<R>((resolve, reject) => {
      this.#waiting.push({ item, resolve, reject });
      // A microtask later, so that items added in the same turn share a batch.
      queueMicrotask(() => this.#pump());
    });
  }

  /** Resolves when nothing waits and nothing is under way. */
  async drain(): Promise<void> {
    if (this.#active === 0 && this.#waiting.length === 0) return;
    await new Promise<void>((resolve) => this.#idle.push(resolve));
  }

  #pump(): void {
    const [resting] = this.#resting;
    if (resting !== undefined && this.#waiting.length >= (this.#options.enough ?? Infinity)) this.#endRest(resting);
    while (this.#active < (this.#options.lanes ?? 1) && this.#waiting.length > 0) {
      const batch = this.#waiting.splice(0, this.#options.maxItems);
      this.#active++;
      void this.#run(batch);
    }
    if (this.#active === 0 && this.#waiting.length === 0) {
      for (const resolve of this.#idle.splice(0)) resolve();
    }
  }

  #rest(ms: number): void {
    const timer = (this.#options.clock ?? systemClock).after(ms, () => {
      this.#endRest(timer);
      this.#pump();
    });
    this.#resting.add(timer);
  }

  #endRest(timer: Timer): void {
    timer.cancel();
    this.#resting.delete(timer);
    this.#active--;
  }

  #free(): void {
    this.#active--;
    this.#pump();
  }

  async #run(batch: readonly Entry<T, R>[]): Promise<void> {
    try {
      const results = await this.#options.flush(batch.map((entry) => entry.item));
      if (results.length !== batch.length) {
        throw new Error(`A flush of ${batch.length} items gave ${results.length} results`);
      }
      batch.forEach((entry, i) => entry.resolve(results[i] as R));
    } catch (error) {
      for (const entry of batch) entry.reject(error);
    } finally {
      const { restMs = 0 } = this.#options;
      if (restMs > 0 && batch.length >= BUSY) this.#rest(restMs);
      else this.#free();
    }
  }
}
