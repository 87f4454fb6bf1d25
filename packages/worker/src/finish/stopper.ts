// Carries out what somebody wished of an attempt that this worker had, once its process is gone: a cleared task starts
// afresh, a stopped or marked one takes its mark. Another wish may come in between; the last one counts.
import { confirmStopped, newId, readAttempts, type ClaimedAttempt, type Database } from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import type { Logger } from "@millrace/shared/observability";
import type { Broker } from "@millrace/shared/queue";

const RETRY_MS = 500;

/** Gives the state that the task instance has now; undefined when nothing was wished of this attempt. */
export async function confirmStop(
  db: Database,
  broker: Broker,
  log: Logger,
  attempt: ClaimedAttempt,
  retries: number,
): Promise<string | undefined> {
  for (;;) {
    try {
      const [standing] = await db.run(readAttempts, [[attempt.id]]);
      if (standing === undefined || standing.isHistory) return undefined;
      if (standing.state !== "restarting" && standing.state !== "shutdown") return undefined;
      const [done] = await db.run(confirmStopped, [[attempt.id], [standing.epoch], [newId()], [retries]]);
      if (done === undefined) continue;
      broker.wake([{ dagRunId: done.dagRunId, taskIds: [done.taskId] }]);
      return done.state;
    } catch (error) {
      log.warn(
        { attempt: attempt.id, cause: messageOf(error) },
        "the stop of an attempt could not be written; it is tried again",
      );
      await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
    }
  }
}
