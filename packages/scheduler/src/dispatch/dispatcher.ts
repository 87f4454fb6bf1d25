// Sends queued attempts to the broker after their transaction is committed. Never in the loop's way: a broker that hangs
// or is away costs nothing but a later re-dispatch.
import type { QueuedAttempt } from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { crashPoint } from "@millrace/shared/lifecycle";
import type { Logger } from "@millrace/shared/observability";
import type { Broker } from "@millrace/shared/queue";

export class Dispatcher {
  readonly #broker: Broker;
  readonly #log: Logger;
  readonly #underWay = new Set<Promise<void>>();

  constructor(broker: Broker, log: Logger) {
    this.#broker = broker;
    this.#log = log;
  }

  dispatch(attempts: readonly QueuedAttempt[], options: { readonly again?: boolean } = {}): void {
    const byQueue = new Map<string, QueuedAttempt[]>();
    for (const attempt of attempts) {
      const same = byQueue.get(attempt.queue);
      if (same === undefined) byQueue.set(attempt.queue, [attempt]);
      else same.push(attempt);
    }
    for (const [queue, messages] of byQueue) {
      const sending = this.#broker
        .send(queue, messages, options)
        .then(() => crashPoint("scheduler.sent"))
        .catch((error: unknown) => {
          this.#log.warn(
            { queue, attempts: messages.length, cause: messageOf(error) },
            "queued attempts could not be sent to the broker; they are sent again later",
          );
        })
        .finally(() => this.#underWay.delete(sending));
      this.#underWay.add(sending);
    }
  }

  async drain(): Promise<void> {
    await Promise.all(this.#underWay);
  }
}
