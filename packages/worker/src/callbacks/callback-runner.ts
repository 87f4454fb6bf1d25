// Takes callbacks from the table of intents and runs them, a few at a time beside the worker's attempts. Each is run at
// least once: its row is leased, a worker that dies lets the lease run out, and the next one begins it anew.
import type { Config } from "@millrace/shared/config";
import {
  claimCallbacks,
  DagVersions,
  extendCallbacks,
  finishCallback,
  type ArtifactStore,
  type ClaimedCallback,
  type Database,
} from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { crashPoint, Periodic, type Service } from "@millrace/shared/lifecycle";
import type { Logger } from "@millrace/shared/observability";
import type { Broker } from "@millrace/shared/queue";
import type { Secrets } from "@millrace/shared/secrets";
import type { XComs } from "@millrace/shared/xcoms";
import type { ChildPool } from "../run/child-pool.ts";
import { CallbackRun, type CallbackEnding } from "./callback-run.ts";

export interface CallbackRunnerDeps {
  readonly db: Database;
  readonly broker: Broker;
  readonly config: Config;
  readonly log: Logger;
  readonly pool: ChildPool;
  readonly artifacts: ArtifactStore;
  readonly workerJobId: () => number;
  readonly secrets: Secrets;
  readonly xcoms: XComs;
}

/** Callbacks come in bursts, and hanging ones must not take the children of the attempts. */
const AT_ONCE = 2;
const LOOK_EVERY_MS = 1_000;
const RETRY_MS = 500;
const CACHED_VERSIONS = 100;

export class CallbackRunner implements Service {
  readonly #deps: CallbackRunnerDeps;
  readonly #versions: DagVersions;
  readonly #looks: Periodic;
  readonly #leases: Periodic;
  readonly #held = new Set<CallbackRun>();
  readonly #running = new Set<Promise<void>>();
  #looking: Promise<void> | undefined;
  #lookAgain = false;
  #isStopping = false;

  constructor(deps: CallbackRunnerDeps) {
    const { log, config } = deps;
    this.#deps = deps;
    this.#versions = new DagVersions(deps.db, CACHED_VERSIONS);
    this.#looks = new Periodic({
      everyMs: LOOK_EVERY_MS,
      run: () => this.#look(),
      onError: (error) => log.warn({ cause: messageOf(error) }, "callbacks could not be looked for"),
    });
    this.#leases = new Periodic({
      everyMs: config.scheduler.task_instance_heartbeat_sec * 1000,
      run: () => this.#extend(),
      onError: (error) => log.warn({ cause: messageOf(error) }, "the leases of callbacks could not be extended"),
    });
  }

  async start(): Promise<void> {
    await this.#looks.start();
    await this.#leases.start();
  }

  /** Looks now: something was written that may have made callbacks. */
  wake(): void {
    this.#look().catch((error: unknown) =>
      this.#deps.log.warn({ cause: messageOf(error) }, "callbacks could not be looked for"),
    );
  }

  /** Hands back what runs: the worker's time to drain is over. */
  releaseAll(): void {
    for (const run of this.#held) run.stop({ kind: "release", reason: "the worker shut down before it ended" });
  }

  /** Takes no more, and waits for those that run. */
  async stop(): Promise<void> {
    this.#isStopping = true;
    await this.#looks.stop();
    await this.#looking?.catch(() => undefined);
    await Promise.all(this.#running);
    await this.#leases.stop();
  }

  /** Never twice at once: what is asked for meanwhile is one more look after it. */
  async #look(): Promise<void> {
    this.#lookAgain = true;
    this.#looking ??= this.#claimAll().finally(() => (this.#looking = undefined));
    await this.#looking;
  }

  async #claimAll(): Promise<void> {
    const { db, workerJobId } = this.#deps;
    while (this.#lookAgain) {
      this.#lookAgain = false;
      const room = AT_ONCE - this.#running.size;
      if (room <= 0 || this.#isStopping) return;
      const claimed = await db.run(claimCallbacks, [room, workerJobId(), this.#leaseSeconds]);
      for (const callback of claimed) this.#begin(callback);
    }
  }

  get #leaseSeconds(): number {
    return this.#deps.config.scheduler.task_instance_heartbeat_timeout;
  }

  #begin(callback: ClaimedCallback): void {
    const running = this.#run(callback).finally(() => {
      this.#running.delete(running);
      if (!this.#isStopping) this.wake();
    });
    this.#running.add(running);
  }

  async #run(callback: ClaimedCallback): Promise<void> {
    const run = new CallbackRun({ ...this.#deps, versions: this.#versions }, callback);
    this.#held.add(run);
    try {
      await this.#write(callback, await run.run());
    } finally {
      this.#held.delete(run);
    }
  }

  /** Goes on until Postgres has answered, as its lease does: else it would run again for nothing. */
  async #write(callback: ClaimedCallback, ending: CallbackEnding): Promise<void> {
    if (ending.state === "left") return;
    const { db, log, workerJobId } = this.#deps;
    const output = ending.state === "failed" ? ending.output : null;
    const about = { callback: callback.id, dag: callback.dagId, run: callback.runId, task: callback.taskId };
    if (ending.state === "failed") log.warn({ ...about, kind: callback.kind }, "a callback failed");
    crashPoint("worker.called-back");
    for (;;) {
      try {
        await db.run(finishCallback, [callback.id, callback.attempts, workerJobId(), ending.state, output]);
        return;
      } catch (error) {
        log.warn(
          { ...about, cause: messageOf(error) },
          "the end of a callback could not be written; it is tried again",
        );
        await new Promise((resolve) => setTimeout(resolve, RETRY_MS));
      }
    }
  }

  async #extend(): Promise<void> {
    const asked = [...this.#held];
    if (asked.length === 0) return;
    const living = await this.#deps.db.run(extendCallbacks, [
      asked.map((run) => run.callback.id),
      asked.map((run) => run.callback.attempts),
      this.#deps.workerJobId(),
      this.#leaseSeconds,
    ]);
    const ids = new Set(living.map((row) => row.id));
    for (const run of asked) {
      if (ids.has(run.callback.id)) continue;
      run.stop({ kind: "lost", reason: "its lease ran out, or its run is gone" });
    }
  }
}
