// The worker: takes attempts from its queues, claims them in Postgres, runs each in a warm child, writes how it ended.
// Stopping drains: nothing new is taken, what runs may finish and goes on living; at the end of the grace the rest is
// handed back without using a try.
import { ArtifactStore, Job } from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { crashPoint, Periodic, type Service } from "@millrace/shared/lifecycle";
import type { AttemptMessage, Consumer } from "@millrace/shared/queue";
import { Secrets } from "@millrace/shared/secrets";
import { XComs } from "@millrace/shared/xcoms";
import { CallbackRunner } from "./callbacks/callback-runner.ts";
import { Claimer } from "./claim/claimer.ts";
import type { WorkerDeps } from "./deps.ts";
import { Finisher } from "./finish/finisher.ts";
import { Heartbeats } from "./heartbeat/heartbeats.ts";
import { AttemptRunner } from "./run/attempt-runner.ts";
import { ChildPool } from "./run/child-pool.ts";

// When Postgres is slow to take endings, no more is begun than it can follow.
const ENDINGS_BEHIND = 4;
const REMOVE_OBJECTS_EVERY_MS = 60_000;

export class Worker implements Service {
  readonly #deps: WorkerDeps;
  readonly #job: Job;
  readonly #pool: ChildPool;
  readonly #heartbeats: Heartbeats;
  readonly #claimer: Claimer;
  readonly #runner: AttemptRunner;
  readonly #callbacks: CallbackRunner;
  readonly #removals: Periodic;
  #consumer: Consumer | undefined;
  #starting: Promise<void> | undefined;
  #stopping: Promise<void> | undefined;
  readonly #handling = new Set<Promise<void>>();

  constructor(deps: WorkerDeps) {
    const { db, broker, config, log } = deps;
    const { queues, concurrency } = config.workers;
    this.#deps = deps;
    this.#job = new Job({
      db,
      type: "WorkerJob",
      heartbeatSeconds: config.scheduler.task_instance_heartbeat_sec,
      log,
      queues,
      concurrency,
      silentMs: () => this.#consumer?.silentMs(),
    });
    this.#pool = new ChildPool({ config });
    this.#heartbeats = new Heartbeats({
      db,
      workerJobId: () => this.#job.id,
      everySeconds: config.scheduler.task_instance_heartbeat_sec,
      leaseSeconds: config.scheduler.task_instance_heartbeat_timeout,
      log,
    });
    this.#claimer = new Claimer(db, () => this.#job.id, log);
    const artifacts = new ArtifactStore(db, config.workers.artifact_folder);
    const workerJobId = () => this.#job.id;
    const secrets = new Secrets({ db, config, log });
    const xcoms = new XComs(db, config);
    this.#callbacks = new CallbackRunner({
      db,
      broker,
      config,
      log,
      pool: this.#pool,
      artifacts,
      workerJobId,
      secrets,
      xcoms,
    });
    this.#removals = new Periodic({
      everyMs: REMOVE_OBJECTS_EVERY_MS,
      run: async () => void (await xcoms.removeDue(() => this.#stopping !== undefined)),
      onError: (error) => log.warn({ cause: messageOf(error) }, "objects of XComs that are gone could not be removed"),
    });
    this.#runner = new AttemptRunner({
      db,
      config,
      log,
      pool: this.#pool,
      artifacts,
      heartbeats: this.#heartbeats,
      finisher: new Finisher(db, broker, log, secrets.cipher),
      broker,
      secrets,
      xcoms,
      onCallbacks: () => this.#callbacks.wake(),
    });
  }

  start(): Promise<void> {
    return (this.#starting ??= this.#start());
  }

  /** Told to stop meanwhile, it goes no step further: what it took then would find a worker that is no more. */
  async #start(): Promise<void> {
    const { broker, config } = this.#deps;
    const steps = [
      () => this.#job.start(),
      () => this.#pool.start(),
      () => this.#heartbeats.start(),
      () => this.#callbacks.start(),
      () => this.#removals.start(),
      () => broker.onSignal((ids) => this.#heartbeats.lookAt(ids)),
    ];
    for (const step of steps) {
      if (this.#stopping !== undefined) return;
      await step();
    }
    if (this.#stopping !== undefined) return;
    const { queues, concurrency } = config.workers;
    this.#consumer = broker.consume({ queues, concurrency, handle: (message) => this.#handle(message) });
    await this.#consumer.start();
  }

  stop(): Promise<void> {
    return (this.#stopping ??= this.#stop());
  }

  async #stop(): Promise<void> {
    const { log, config } = this.#deps;
    if (this.#consumer === undefined) {
      // It may still wait for Postgres, to register itself.
      await this.#job.stop();
      await this.#starting?.catch(() => undefined);
    }
    if (this.#handling.size > 0) log.info({ attempts: this.#handling.size }, "waiting for running attempts to end");
    // The grace runs from the signal: pausing waits for what is being handled.
    const grace = setTimeout(() => {
      this.#runner.releaseAll();
      this.#callbacks.releaseAll();
    }, config.workers.graceful_timeout * 1000);
    const paused = this.#consumer?.pause();
    await Promise.all([paused, this.#callbacks.stop(), this.#removals.stop()]);
    await Promise.all(this.#handling);
    clearTimeout(grace);
    await this.#consumer?.stop();
    await this.#heartbeats.stop();
    await this.#pool.stop();
    await this.#job.stop();
  }

  /** Resolves when the handler has ended and its child is free: the writing of its end goes on beside the next one. */
  async #handle(message: AttemptMessage): Promise<void> {
    let free: () => void = () => undefined;
    const isFree = new Promise<void>((resolve) => (free = resolve));
    const handling = this.#claimAndRun(message, free).finally(() => {
      this.#handling.delete(handling);
      free();
    });
    this.#handling.add(handling);
    const isBehind = this.#handling.size > ENDINGS_BEHIND * this.#deps.config.workers.concurrency;
    await (isBehind ? handling : isFree);
  }

  async #claimAndRun(message: AttemptMessage, onChildFree: () => void): Promise<void> {
    crashPoint("worker.taken");
    const attempt = await this.#claimer.claim(message);
    if (attempt === undefined) {
      this.#deps.log.debug(
        { attempt: message.id, epoch: message.epoch },
        "a message was dropped: its attempt is taken or stale",
      );
      return;
    }
    crashPoint("worker.claimed");
    try {
      await this.#runner.run(attempt, onChildFree);
    } catch (error) {
      // The attempt stays running without heartbeats, and is found as lost.
      this.#deps.log.error(
        { attempt: attempt.id, dag: attempt.dagId, task: attempt.taskId, cause: messageOf(error) },
        "an attempt could not be run",
      );
    }
  }
}
