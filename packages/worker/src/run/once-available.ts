// An outage of the database is not the task's failure: what an attempt reads from it is asked for again until it answers,
// or until the attempt is stopped.
import { isUnavailable } from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import type { Logger } from "@millrace/shared/observability";

const RETRY_MS = 500;

/** `ask` may be done twice: it reads, or writes the same over itself. */
export async function onceAvailable<T>(ask: () => Promise<T>, isStopped: () => boolean, log: Logger): Promise<T> {
  for (let isRepeat = false; ; isRepeat = true) {
    try {
      return await ask();
    } catch (error) {
      if (!isUnavailable(error) || isStopped()) throw error;
      if (!isRepeat) log.warn({ cause: messageOf(error) }, "an attempt waits for the database to answer");
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
