// What a scheduler looks for apart from its loop: what is silent, late or forgotten. Every scheduler does all of it, and
// row locks give each finding to one of them.
import {
  adoptOrphans,
  failUnclaimedAttempts,
  redispatchAttempts,
  retireSilentJobs,
  timeOutTriggers,
} from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import { Periodic, type Clock, type Service } from "@millrace/shared/lifecycle";
import type { Wake } from "@millrace/shared/queue";
import type { ActorDeps, SchedulerDeps } from "../deps.ts";
import type { Dispatcher } from "../dispatch/dispatcher.ts";
import { timeOutRuns } from "../runs/time-out-runs.ts";
import { analyzeGrown } from "./analyze-grown.ts";
import { handleLostAttempts } from "./handle-lost-attempts.ts";
import { OutageWatch } from "./outage-watch.ts";

const SEND_AT_ONCE = 10_000;
const TIME_OUTS_AT_ONCE = 1_000;
const LOOK_AT_SIZES_SECONDS = 2;
const LOOK_AROUND: Wake = { dagRunId: null, taskIds: null };

export interface RecoveryDeps extends SchedulerDeps {
  readonly clock: Clock;
  readonly dispatcher: Dispatcher;
  readonly jobId: () => number;
  readonly transaction: <T>(actor: (deps: ActorDeps) => Promise<T>) => Promise<T>;
}

export class Recovery implements Service {
  readonly #deps: RecoveryDeps;
  readonly #looks: readonly Periodic[];

  constructor(deps: RecoveryDeps) {
    this.#deps = deps;
    const { broker, clock, config, db, log } = deps;
    const { scheduler } = config;
    const every = (seconds: number, what: string, run: () => Promise<void>) =>
      new Periodic({
        everyMs: seconds * 1000,
        run,
        onError: (error) => log.warn({ cause: messageOf(error) }, `${what} failed; it is tried again`),
        clock,
      });
    const outage = new OutageWatch(clock, {
      everyMs: scheduler.task_instance_heartbeat_timeout_detection_interval * 1000,
      leaseMs: scheduler.task_instance_heartbeat_timeout * 1000,
      onOutage: (ms) =>
        log.warn(
          { seconds: Math.round(ms / 100) / 10 },
          "the database did not answer in time: nobody is taken for lost for one timeout",
        ),
    });
    this.#looks = [
      every(scheduler.task_instance_heartbeat_timeout_detection_interval, "looking for lost attempts", async () => {
        broker.wake(await deps.transaction((actor) => handleLostAttempts(actor, outage)));
        outage.answered();
      }),
      every(scheduler.orphaned_tasks_check_interval, "looking for work of schedulers that are gone", async () => {
        await this.#retire();
        await this.#adopt();
      }),
      every(scheduler.scheduler_idle_sleep_time, "looking for runs past their timeout", async () => {
        const { runs, stopped } = await deps.transaction(timeOutRuns);
        broker.signalAttempts(stopped);
        if (runs > 0) broker.wake([LOOK_AROUND]);
      }),
      every(scheduler.scheduler_idle_sleep_time, "looking for waits past their timeout", async () => {
        const ended = await db.run(timeOutTriggers, [TIME_OUTS_AT_ONCE]);
        if (ended.length === 0) return;
        broker.wake(ended.map(({ dagRunId, taskId }) => ({ dagRunId, taskIds: [taskId] })));
        broker.callTriggerers();
      }),
      every(LOOK_AT_SIZES_SECONDS, "looking for tables that have grown", async () => void (await analyzeGrown(db))),
      every(Math.max(0.5, scheduler.task_redispatch_after / 3), "looking for unclaimed attempts", async () => {
        await this.sendAgain(scheduler.task_redispatch_after);
        await this.#failUnclaimed(scheduler.task_queued_timeout);
      }),
    ];
  }

  async start(): Promise<void> {
    await Promise.all(this.#looks.map((look) => look.start()));
  }

  async stop(): Promise<void> {
    await Promise.all(this.#looks.map((look) => look.stop()));
  }

  /** Queued attempts that were sent longer ago than this and that nobody has claimed. */
  async sendAgain(olderThanSeconds: number): Promise<void> {
    const lost = await this.#deps.db.run(redispatchAttempts, [olderThanSeconds, SEND_AT_ONCE]);
    if (lost.length === 0) return;
    this.#deps.log.info({ attempts: lost.length }, "queued attempts are sent to the broker again");
    this.#deps.dispatcher.dispatch(lost, { again: true });
  }

  async #retire(): Promise<void> {
    const { db, log, config } = this.#deps;
    const silentAfter = {
      SchedulerJob: config.scheduler.scheduler_health_check_threshold,
      WorkerJob: config.scheduler.task_instance_heartbeat_timeout,
      TriggererJob: config.triggerer.triggerer_health_check_threshold,
      DagProcessorJob: Math.max(30, 3 * config.dag_processor.job_heartbeat_sec),
    };
    for (const job of await db.run(retireSilentJobs, [Object.keys(silentAfter), Object.values(silentAfter)])) {
      const { id, jobType, hostname, silentSeconds } = job;
      log.warn(
        { job: id, type: jobType, host: hostname, silentSeconds },
        "a process fell silent and is taken for dead",
      );
    }
  }

  async #adopt(): Promise<void> {
    const adopted = await this.#deps.db.run(adoptOrphans, [this.#deps.jobId(), SEND_AT_ONCE]);
    if (adopted.length === 0) return;
    this.#deps.log.info({ attempts: adopted.length }, "queued attempts of a scheduler that is gone were adopted");
    // Under the id that they may have been sent under: what is in the queue already stays once.
    this.#deps.dispatcher.dispatch(adopted);
  }

  async #failUnclaimed(olderThanSeconds: number): Promise<void> {
    const failed = await this.#deps.db.run(failUnclaimedAttempts, [olderThanSeconds, 500]);
    if (failed.length === 0) return;
    this.#deps.log.warn(
      { attempts: failed.length, queues: [...new Set(failed.map((row) => row.queue))] },
      "attempts that no worker claimed have failed",
    );
    this.#deps.broker.wake(failed.map((row) => ({ dagRunId: row.dagRunId, taskIds: [row.taskId] })));
  }
}
