// The database's time, told by this process's monotonic clock between two looks at the database. What was read is already
// a little old when it arrives, so the clock is never ahead: of the last few readings the one that travelled least counts.
// A database clock that is set back is followed once the older readings are gone, one that is set forward at once.
import { systemClock, type Clock } from "@millrace/shared/lifecycle";

const READINGS = 16;

export class DatabaseClock {
  readonly #clock: Clock;
  readonly #offsets: number[] = [];
  #offset = 0;

  constructor(clock: Clock = systemClock) {
    this.#clock = clock;
  }

  /** @param nowMs the database's time in milliseconds since 1970, as an answer that has just arrived has it */
  observe(nowMs: number): void {
    this.#offsets.push(nowMs - this.#clock.now());
    if (this.#offsets.length > READINGS) this.#offsets.shift();
    this.#offset = Math.max(...this.#offsets);
  }

  /** Milliseconds since 1970. */
  now(): number {
    return this.#clock.now() + this.#offset;
  }
}
