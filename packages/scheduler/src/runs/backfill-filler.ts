// Turns the dates of backfills into runs, beside the scheduler's passes: each batch is a transaction of its own on another
// connection, so that ten thousand dates hold no pass up. Told to look with each tick and each wake that asks for a look
// around; it then goes on by itself until nothing is left, and wakes the passes with each batch.
import { completeBackfills, fillBackfill, type DagVersions } from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import type { SchedulerDeps } from "../deps.ts";

export class BackfillFiller {
  readonly #deps: Pick<SchedulerDeps, "db" | "broker" | "log">;
  readonly #versions: DagVersions;
  #filling: Promise<void> | undefined;
  #stopping = false;

  constructor(deps: Pick<SchedulerDeps, "db" | "broker" | "log">, versions: DagVersions) {
    this.#deps = deps;
    this.#versions = versions;
  }

  /** Does not wait. While it is at work already it sees what is new by itself. */
  look(): void {
    if (this.#stopping) return;
    this.#filling ??= this.#fillAll().finally(() => (this.#filling = undefined));
  }

  /** Waits for the batch at hand; what is left is for the next scheduler. */
  async stop(): Promise<void> {
    this.#stopping = true;
    await this.#filling;
  }

  async #fillAll(): Promise<void> {
    const { db, broker, log } = this.#deps;
    // One that cannot be filled does not stand before the others; it is tried again with the next look.
    const failed: number[] = [];
    while (!this.#stopping) {
      let taken: number | undefined;
      try {
        const filled = await db.transaction(
          async (tx) => await fillBackfill(tx, this.#versions, failed, (id) => (taken = id)),
        );
        if (filled === undefined) return;
        broker.signalAttempts(filled.stopped);
        if (filled.runs > 0) broker.wake([{ dagRunId: null, taskIds: null }]);
        else await closeBackfills({ db, log });
      } catch (error) {
        log.error({ backfill: taken, cause: messageOf(error) }, "dates of a backfill did not become runs");
        if (taken === undefined) return;
        failed.push(taken);
      }
    }
  }
}

/** Closes the backfills that are over. */
export async function closeBackfills({ db, log }: Pick<SchedulerDeps, "db" | "log">): Promise<void> {
  for (const { id, dagId } of await db.run(completeBackfills, [])) {
    log.info({ backfill: id, dag: dagId }, "a backfill is done");
  }
}
