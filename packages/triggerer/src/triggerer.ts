// The triggerer: takes the triggers of deferred tasks, runs them, and writes what ended each wait. Any number share the work.
// A call through the broker says that triggers came or went; with each heartbeat it looks without being called, compares
// what it has with the table, and frees the triggers of triggerers that are gone. Stopping gives its own back.
import { DagVersions, dropOrphanTriggers, Job, releaseLostTriggers, releaseTriggers } from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { Periodic, SignalGate, type Service } from "@millrace/shared/lifecycle";
import { Secrets, type Cipher } from "@millrace/shared/secrets";
import { Assigner } from "./assign/assigner.ts";
import { compareAll, dropLost } from "./assign/compare.ts";
import { syncWatchers } from "./assign/sync-watchers.ts";
import type { TriggererDeps } from "./deps.ts";
import { Firer } from "./fire/firer.ts";
import { AttemptLogs } from "./run/attempt-logs.ts";
import { Holdings } from "./run/holdings.ts";

/** Calls come with every deferral: those within this time are answered together. */
const GATHER_MS = 5;
const DROP_EVERY_MS = 250;
const CLEAN_EVERY_MS = 60_000;
const ORPHAN_AGE_S = 60;
const AT_ONCE = 10_000;
/** How long a stopping triggerer waits for events that are being written. */
const LAST_EVENTS_MS = 5_000;

export class Triggerer implements Service {
  readonly #deps: TriggererDeps;
  readonly #job: Job;
  readonly #firer: Firer;
  readonly #cipher: Cipher;
  readonly #logs: AttemptLogs;
  readonly #holdings: Holdings;
  readonly #assigner: Assigner;
  readonly #looks: Periodic;
  readonly #cleaning: Periodic;
  readonly #gate = new SignalGate();
  readonly #versions: DagVersions;
  #loop: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  #lastDrop = 0;
  #said = -1;

  constructor(deps: TriggererDeps) {
    const { db, broker, config, log } = deps;
    this.#deps = deps;
    this.#versions = new DagVersions(db, 1_000);
    const { capacity, queues, job_heartbeat_sec } = config.triggerer;
    this.#job = new Job({
      ...{ db, log, queues, type: "TriggererJob", concurrency: capacity, heartbeatSeconds: job_heartbeat_sec },
    });
    const secrets = new Secrets({ db, config, log });
    this.#cipher = secrets.cipher;
    this.#firer = new Firer({
      db,
      cipher: secrets.cipher,
      broker,
      log,
      longestRetryDelay: config.core.max_task_retry_delay,
      jobId: () => this.#job.id,
    });
    this.#logs = new AttemptLogs(db, config.logging.base_log_folder, log, secrets.redactor);
    this.#holdings = new Holdings({ db, config, log, logs: this.#logs, secrets, firer: this.#firer });
    this.#assigner = new Assigner({
      db,
      config,
      jobId: () => this.#job.id,
      size: () => this.#holdings.size,
      take: (claimed) => this.#holdings.add(claimed),
      pause: (ms) => this.#pause(ms),
      isStopping: () => this.#isStopping(),
    });
    this.#looks = new Periodic({
      everyMs: job_heartbeat_sec * 1000,
      run: () => this.#look(),
      onError: (error) => log.warn({ cause: messageOf(error) }, "triggers could not be compared"),
    });
    this.#cleaning = new Periodic({
      everyMs: CLEAN_EVERY_MS,
      run: async () => void (await db.run(dropOrphanTriggers, [ORPHAN_AGE_S, AT_ONCE])),
      onError: (error) => log.warn({ cause: messageOf(error) }, "triggers without tasks could not be removed"),
    });
  }

  async start(): Promise<void> {
    if (this.#loop !== undefined) return;
    await this.#job.start();
    await this.#deps.broker.onTriggererCall(() => this.#gate.set());
    if (this.#isStopping()) return;
    this.#gate.set();
    this.#loop = this.#run();
    await this.#looks.start();
    await this.#cleaning.start();
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    const { db, broker, log } = this.#deps;
    this.#gate.set();
    await Promise.all([this.#loop, this.#looks.stop(), this.#cleaning.stop()]);
    await this.#holdings.stop();
    await Promise.race([this.#firer.stop(), this.#pause(LAST_EVENTS_MS, true)]);
    await this.#logs.close();
    if (this.#loop !== undefined) {
      try {
        const released = await db.run(releaseTriggers, [this.#job.id]);
        if (released.length > 0) log.info({ triggers: released.length }, "triggers were given back");
      } catch (error) {
        log.warn({ cause: messageOf(error) }, "triggers could not be given back: others take them over in time");
      }
    }
    await this.#job.stop();
    broker.callTriggerers();
  }

  async #run(): Promise<void> {
    const { log, config } = this.#deps;
    while (this.#stopping === undefined) {
      await this.#gate.wait(config.triggerer.job_heartbeat_sec * 1000);
      if (this.#isStopping()) return;
      await this.#pause(GATHER_MS);
      try {
        await this.#assigner.assign();
        await this.#dropLost();
      } catch (error) {
        log.warn({ cause: messageOf(error) }, "triggers could not be taken; they are tried again");
      }
    }
  }

  /** A property read after a wait may have changed, which the compiler does not know. */
  #isStopping(): boolean {
    return this.#stopping !== undefined;
  }

  async #dropLost(): Promise<void> {
    const now = performance.now();
    if (now - this.#lastDrop < DROP_EVERY_MS) return;
    this.#lastDrop = now;
    await dropLost(this.#deps.db, this.#job.id, this.#holdings);
  }

  async #look(): Promise<void> {
    const { db, config, log, broker } = this.#deps;
    const { triggerer_health_check_threshold: threshold, capacity } = config.triggerer;
    const freed = await db.run(releaseLostTriggers, [threshold, AT_ONCE, this.#job.id]);
    if (freed.length > 0) {
      log.info({ triggers: freed.length }, "triggers of triggerers that are gone were freed");
      broker.callTriggerers();
    }
    if (await syncWatchers(db, this.#versions, this.#cipher)) broker.callTriggerers();
    const survey = await this.#assigner.survey();
    this.#holdings.clock.observe(survey.nowMs);
    if (survey.mine !== this.#holdings.size) await compareAll(db, this.#job.id, this.#holdings);
    if (survey.open > 0) this.#gate.set();
    const { size } = this.#holdings;
    if (size === this.#said) return;
    this.#said = size;
    log.info({ triggers: size, capacity, waiting: survey.open, triggerers: survey.peers }, "triggers held");
  }

  /** Ends at once when the triggerer stops. */
  async #pause(ms: number, whileStopping = false): Promise<void> {
    if (this.#isStopping() && !whileStopping) return;
    await new Promise((resolve) => setTimeout(resolve, ms));
  }
}
