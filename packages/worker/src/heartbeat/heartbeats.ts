// Says in one statement that all attempts of this worker live, and learns which no longer are its own: those are stopped
// at once. A push through the broker brings the next heartbeat forward.
// INVARIANT: no process of an attempt outlives its lease by more than LOOK_MS. Whoever has waited for an answer for as long
// as the lease, by a clock that nobody sets, must take it that another worker has the attempt by now: it counts from before
// the last heartbeat that was answered was sent, so its lease never ends later than the one that the database knows.
import { heartbeatAttempts, type Database } from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { Periodic, systemClock, type Clock, type Service } from "@millrace/shared/lifecycle";
import type { Logger } from "@millrace/shared/observability";

export interface HeldAttempt {
  readonly id: string;
  readonly epoch: number;
  /** It was `lost` to somebody else, or this worker is `asked` to stop it and to confirm that. */
  readonly stop: (reason: string, kind: "lost" | "asked") => void;
}

export interface HeartbeatOptions {
  readonly db: Database;
  readonly workerJobId: () => number;
  readonly everySeconds: number;
  /** After how long without one the attempts are taken from this worker. */
  readonly leaseSeconds: number;
  readonly log: Logger;
  readonly clock?: Clock;
}

const LOOK_MS = 500;

export class Heartbeats implements Service {
  readonly #options: HeartbeatOptions;
  readonly #clock: Clock;
  readonly #held = new Map<string, HeldAttempt>();
  /** By id: up to when, at the least, the database took the attempt for alive. */
  readonly #provenAt = new Map<string, number>();
  readonly #beats: Periodic;
  readonly #looks: Periodic;

  constructor(options: HeartbeatOptions) {
    const { everySeconds, log, clock = systemClock } = options;
    this.#options = options;
    this.#clock = clock;
    this.#beats = new Periodic({
      everyMs: everySeconds * 1000,
      run: () => this.beat(),
      onError: (error) => log.warn({ cause: messageOf(error) }, "heartbeats could not be written"),
      clock,
    });
    this.#looks = new Periodic({
      everyMs: LOOK_MS,
      run: () => Promise.resolve(this.#stopExpired()),
      onError: (error) => log.error({ cause: messageOf(error) }, "an attempt could not be stopped"),
      clock,
    });
  }

  get held(): readonly HeldAttempt[] {
    return [...this.#held.values()];
  }

  add(attempt: HeldAttempt): void {
    this.#held.set(attempt.id, attempt);
    this.#provenAt.set(attempt.id, this.#clock.now());
  }

  remove(attempt: HeldAttempt): void {
    if (this.#held.get(attempt.id) !== attempt) return;
    this.#held.delete(attempt.id);
    this.#provenAt.delete(attempt.id);
  }

  async start(): Promise<void> {
    await Promise.all([this.#beats.start(), this.#looks.start()]);
  }

  async stop(): Promise<void> {
    await Promise.all([this.#beats.stop(), this.#looks.stop()]);
  }

  /** Left to be found as lost: whether the task may run again is decided there, by the one rule for all losses. */
  #stopExpired(): void {
    const { leaseSeconds } = this.#options;
    const before = this.#clock.now() - leaseSeconds * 1000;
    for (const attempt of this.held) {
      if ((this.#provenAt.get(attempt.id) ?? Infinity) > before) continue;
      const reason = `the database did not take a heartbeat for ${leaseSeconds} s: another worker may have the task`;
      attempt.stop(reason, "lost");
    }
  }

  /** Somebody changed these attempts: looks at them now, not at the next heartbeat. */
  lookAt(ids: readonly string[]): void {
    if (!ids.some((id) => this.#held.has(id))) return;
    this.beat().catch((error: unknown) =>
      this.#options.log.warn({ cause: messageOf(error) }, "heartbeats could not be written"),
    );
  }

  async beat(): Promise<void> {
    const asked = this.held;
    if (asked.length === 0) return;
    const { db, workerJobId } = this.#options;
    const sentAt = this.#clock.now();
    const rows = await db.beat(heartbeatAttempts, [asked.map((attempt) => attempt.id), workerJobId()]);
    const living = new Map(rows.map((row) => [row.id, row]));
    for (const attempt of asked) {
      if (this.#held.get(attempt.id) !== attempt) continue;
      const row = living.get(attempt.id);
      if (row?.isProven === true)
        this.#provenAt.set(attempt.id, Math.max(sentAt, this.#provenAt.get(attempt.id) ?? sentAt));
      if (row === undefined)
        attempt.stop("this attempt is no longer the worker's: it was taken over, cleared or marked", "lost");
      else if (row.state === "restarting") attempt.stop("the task was cleared", "asked");
      else if (row.state === "shutdown") attempt.stop("the task was stopped or marked", "asked");
      else if (row.epoch !== attempt.epoch) attempt.stop("this attempt has another owner", "lost");
    }
  }
}
