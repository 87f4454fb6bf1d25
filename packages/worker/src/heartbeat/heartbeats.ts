// Says in one statement that all attempts of this worker live, and learns which no longer are its own: those are stopped
// at once. A push through the broker brings the next heartbeat forward.
import { heartbeatAttempts, type Database } from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { Periodic, type Service } from "@millrace/shared/lifecycle";
import type { Logger } from "@millrace/shared/observability";

export interface HeldAttempt {
  readonly id: string;
  readonly epoch: number;
  /** It was `lost` to somebody else, or this worker is `asked` to stop it and to confirm that. */
  readonly stop: (reason: string, kind: "lost" | "asked") => void;
}

export class Heartbeats implements Service {
  readonly #db: Database;
  readonly #workerJobId: () => number;
  readonly #held = new Map<string, HeldAttempt>();
  readonly #beats: Periodic;
  readonly #log: Logger;

  constructor(db: Database, workerJobId: () => number, everySeconds: number, log: Logger) {
    this.#db = db;
    this.#workerJobId = workerJobId;
    this.#log = log;
    this.#beats = new Periodic({
      everyMs: everySeconds * 1000,
      run: () => this.beat(),
      onError: (error) => log.warn({ cause: messageOf(error) }, "heartbeats could not be written"),
    });
  }

  get held(): readonly HeldAttempt[] {
    return [...this.#held.values()];
  }

  add(attempt: HeldAttempt): void {
    this.#held.set(attempt.id, attempt);
  }

  remove(attempt: HeldAttempt): void {
    if (this.#held.get(attempt.id) === attempt) this.#held.delete(attempt.id);
  }

  start(): Promise<void> {
    return this.#beats.start();
  }

  stop(): Promise<void> {
    return this.#beats.stop();
  }

  /** Somebody changed these attempts: looks at them now, not at the next heartbeat. */
  lookAt(ids: readonly string[]): void {
    if (!ids.some((id) => this.#held.has(id))) return;
    this.beat().catch((error: unknown) =>
      this.#log.warn({ cause: messageOf(error) }, "heartbeats could not be written"),
    );
  }

  async beat(): Promise<void> {
    const asked = this.held;
    if (asked.length === 0) return;
    const living = new Map(
      (await this.#db.beat(heartbeatAttempts, [asked.map((attempt) => attempt.id), this.#workerJobId()])).map((row) => [
        row.id,
        row,
      ]),
    );
    for (const attempt of asked) {
      if (this.#held.get(attempt.id) !== attempt) continue;
      const row = living.get(attempt.id);
      if (row === undefined)
        attempt.stop("this attempt is no longer the worker's: it was taken over, cleared or marked", "lost");
      else if (row.state === "restarting") attempt.stop("the task was cleared", "asked");
      else if (row.state === "shutdown") attempt.stop("the task was stopped or marked", "asked");
      else if (row.epoch !== attempt.epoch) attempt.stop("this attempt has another owner", "lost");
    }
  }
}
