import { systemClock, type Clock } from "./clock.ts";

/** A flag that a loop waits on: set it any number of times, one waiter wakes once. Nothing set is ever lost. */
export class SignalGate {
  #set = false;
  #wake: (() => void) | undefined;
  readonly #clock: Clock;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  set(): void {
    this.#set = true;
    this.#wake?.();
  }

  /** Resolves when set, or after `ms`; clears the flag. */
  async wait(ms: number): Promise<void> {
    if (!this.#set) {
      await new Promise<void>((resolve) => {
        const timer = this.#clock.after(ms, resolve);
        this.#wake = () => {
          timer.cancel();
          resolve();
        };
      });
      this.#wake = undefined;
    }
    this.#set = false;
  }
}
