// Whether silence may be the database's own: while it does not answer, no heartbeat can be written, and all workers look
// lost at once when it is back. The start time of the server tells of a restart only; a server that hung, or a replica that
// took over, has been up for long. So who was not answered for a while judges nobody for one lease.
import type { Clock } from "@millrace/shared/lifecycle";

/** Below this nothing is an outage: a busy machine is late by as much. */
const LATE_MS = 2_000;

export interface OutageWatchOptions {
  /** How often it is asked. */
  readonly everyMs: number;
  readonly leaseMs: number;
  /** Told of each outage once, with its length. */
  readonly onOutage?: (ms: number) => void;
}

export class OutageWatch {
  readonly #clock: Clock;
  readonly #lateMs: number;
  readonly #leaseMs: number;
  readonly #onOutage: (ms: number) => void;
  #answeredAt: number;
  #judgeFrom = 0;

  constructor(clock: Clock, { everyMs, leaseMs, onOutage = () => undefined }: OutageWatchOptions) {
    this.#clock = clock;
    this.#lateMs = Math.max(LATE_MS, leaseMs / 2, 2 * everyMs);
    this.#leaseMs = leaseMs;
    this.#onOutage = onOutage;
    this.#answeredAt = clock.now();
  }

  /** Asked after the silent ones were read: the answer itself may have been late. */
  mayJudge(): boolean {
    const now = this.#clock.now();
    const silentMs = now - this.#answeredAt;
    if (silentMs > this.#lateMs) {
      this.#judgeFrom = now + this.#leaseMs;
      this.#onOutage(silentMs);
    }
    this.#answeredAt = now;
    return now >= this.#judgeFrom;
  }

  answered(): void {
    // Without silent ones nobody asked: then this is the answer.
    this.mayJudge();
  }
}
