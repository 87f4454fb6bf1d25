// Claims attempts in Postgres, many in one statement: what piled up while the last claim was under way goes with the
// next. After a lost answer it asks by token whether the claim was made, instead of guessing.
import { randomUUID } from "node:crypto";
import {
  claimAttempts,
  HOSTNAME,
  isRefused,
  readClaims,
  UNIXNAME,
  type ClaimedAttempt,
  type Database,
} from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { Batcher } from "@millrace/shared/lifecycle";
import type { Logger } from "@millrace/shared/observability";
import type { AttemptMessage } from "@millrace/shared/queue";

const RETRY_MS = 500;

export class Claimer {
  readonly #batcher: Batcher<AttemptMessage, ClaimedAttempt | undefined>;

  constructor(db: Database, workerJobId: () => number, log: Logger) {
    this.#batcher = new Batcher({
      maxItems: 200,
      restMs: 4,
      enough: 8,
      flush: async (messages) => {
        const tokens = messages.map(() => randomUUID());
        const ids = messages.map((message) => message.id);
        const claimed = await this.#claim(db, log, ids, messages, tokens, workerJobId());
        const byId = new Map(claimed.map((attempt) => [attempt.id, attempt]));
        return messages.map((message) => {
          const attempt = byId.get(message.id);
          // Two deliveries of one message in one batch: the first has it.
          byId.delete(message.id);
          return attempt;
        });
      },
    });
  }

  /** Undefined when somebody else has the attempt, or it is stale: the message is to be dropped. */
  claim(message: AttemptMessage): Promise<ClaimedAttempt | undefined> {
    return this.#batcher.add(message);
  }

  async #claim(
    db: Database,
    log: Logger,
    ids: readonly string[],
    messages: readonly AttemptMessage[],
    tokens: readonly string[],
    jobId: number,
  ): Promise<ClaimedAttempt[]> {
    const epochs = messages.map((message) => message.epoch);
    for (let isRepeat = false; ; isRepeat = true) {
      try {
        const made = isRepeat ? await db.run(readClaims, [ids, tokens]) : [];
        const open = ids.map((id, i) => ({ id, epoch: epochs[i] as number, token: tokens[i] as string }));
        const rest = open.filter((entry) => !made.some((attempt) => attempt.id === entry.id));
        const now =
          rest.length === 0
            ? []
            : await db.run(claimAttempts, [
                rest.map((entry) => entry.id),
                rest.map((entry) => entry.epoch),
                rest.map((entry) => entry.token),
                HOSTNAME,
                UNIXNAME,
                process.pid,
                jobId,
              ]);
        return [...made, ...now];
      } catch (error) {
        if (isRefused(error)) {
          if (ids.length === 1) {
            log.error(
              { attempt: ids[0], cause: messageOf(error) },
              "a claim was refused by the database; its message is dropped",
            );
            return [];
          }
          // One of them is at fault: each by itself, so that the others are not held up.
          const each = messages.map((message, i) =>
            this.#claim(db, log, [ids[i] ?? ""], [message], [tokens[i] ?? ""], jobId),
          );
          return (await Promise.all(each)).flat();
        }
        log.warn({ attempts: ids.length, cause: messageOf(error) }, "attempts could not be claimed; it is tried again");
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }
}
