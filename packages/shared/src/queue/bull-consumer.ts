// Takes attempts from BullMQ. One BullMQ worker a queue; together they handle at most `concurrency` messages, each one
// taking as many as are free, so that an idle queue holds no place back.
// INVARIANT: a queue that answers and has work for a free place is asked for it. A BullMQ worker can stop asking for good
// after an outage without a word; so each answer to its question for work is noted, and a worker that is silent for long
// while the server answers others is put away and made anew.
import type { Job, Worker } from "bullmq";
import { messageOf } from "../errors/index.ts";
import { Periodic, systemClock, type Clock } from "../lifecycle/index.ts";
import type { Logger } from "../observability/index.ts";
import { readMessage, type AttemptMessage, type ConsumeOptions, type Consumer } from "./broker.ts";
import { Places } from "./places.ts";

export type MakeWorker = (
  queue: string,
  handle: (job: Job<AttemptMessage>) => Promise<void>,
  options: typeof WORKER_OPTIONS & { readonly concurrency: number },
) => Worker<AttemptMessage>;

export interface BullConsumeOptions extends ConsumeOptions {
  /** Whether the server answers at all, asked over another connection. */
  readonly isThere: () => Promise<boolean>;
  readonly clock?: Clock;
}

// BullMQ never decides a retry: a message that stalls is delivered again, and its claim in Postgres refused.
const WORKER_OPTIONS = {
  autorun: false,
  maxStalledCount: 1_000_000,
  lockDuration: 30_000,
  stalledInterval: 30_000,
  // A question for work is answered after this many seconds at the latest, and repeated so soon after an error.
  drainDelay: 5,
  runRetryDelay: 1_000,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
} as const;

/** Four unanswered questions. */
export const SILENT_MS = 20_000;
const LOOK_MS = 2_000;
const STOP_TIMEOUT_MS = 3_000;

interface Taker {
  readonly worker: Worker<AttemptMessage>;
  lastAnswer: number;
}

export function consumeWithBull(makeWorker: MakeWorker, options: BullConsumeOptions, log: Logger): Consumer {
  const clock = options.clock ?? systemClock;
  const active = new Map<string, number>(options.queues.map((queue) => [queue, 0]));
  const takers = new Map<string, Taker>();
  const places = new Places(options.concurrency);
  const handled = new Set<Promise<void>>();
  let isPaused = false;

  const spread = () => {
    const busy = [...active.values()].reduce((sum, n) => sum + n, 0);
    for (const [queue, { worker }] of takers) {
      const own = active.get(queue) ?? 0;
      const wanted = Math.max(1, own + options.concurrency - busy);
      if (worker.concurrency !== wanted) worker.concurrency = wanted;
    }
  };
  const count = (queue: string, by: number) => {
    active.set(queue, (active.get(queue) ?? 0) + by);
    const taker = takers.get(queue);
    if (taker !== undefined) taker.lastAnswer = clock.now();
    if (takers.size > 1) spread();
  };

  const handle = async (queue: string, job: Job<AttemptMessage>): Promise<void> => {
    const message = readMessage(job.data);
    if (message === undefined) {
      log.warn({ queue, job: job.id }, "a message that names no attempt was dropped");
      return;
    }
    count(queue, 1);
    try {
      if (!(await places.enter())) return;
      try {
        const handling = options.handle(message, queue);
        handled.add(handling);
        await handling.finally(() => handled.delete(handling));
      } finally {
        places.leave();
      }
    } catch (error) {
      log.error({ queue, attempt: message.id, cause: messageOf(error) }, "an attempt could not be handled");
    } finally {
      count(queue, -1);
    }
  };

  const open = (queue: string): Taker => {
    const worker = makeWorker(queue, (job) => handle(queue, job), {
      ...WORKER_OPTIONS,
      concurrency: options.concurrency,
    });
    const taker: Taker = { worker, lastAnswer: clock.now() };
    noteAnswers(worker, () => (taker.lastAnswer = clock.now()));
    worker.on("error", (error) => log.debug({ queue, cause: messageOf(error) }, "the queue answered with an error"));
    takers.set(queue, taker);
    return taker;
  };
  const run = (queue: string, { worker }: Taker) => {
    worker.run().catch((error: unknown) => log.error({ queue, cause: messageOf(error) }, "a consumer ended"));
  };

  /** A worker without a free place asks for nothing. */
  const silentMsOf = (queue: string, { worker, lastAnswer }: Taker): number =>
    (active.get(queue) ?? 0) >= worker.concurrency ? 0 : clock.now() - lastAnswer;

  let isAway = false;
  const replaceSilent = async (): Promise<void> => {
    const silent = [...takers].filter(([queue, taker]) => silentMsOf(queue, taker) > SILENT_MS);
    if (silent.length === 0 || isPaused) return;
    const isThere = await options.isThere();
    if (!isThere && !isAway) log.warn("the queue does not answer; messages are taken again once it does");
    isAway = !isThere;
    if (isAway) return;
    for (const [queue, taker] of silent) {
      if (isPaused || takers.get(queue) !== taker || silentMsOf(queue, taker) <= SILENT_MS) continue;
      const seconds = Math.round(silentMsOf(queue, taker) / 1000);
      log.warn({ queue, seconds }, "a consumer was told nothing by a queue that answers, and is made anew");
      run(queue, open(queue));
      spread();
      // What it handles goes on; its messages are delivered again when their locks run out, and refused by their claims.
      taker.worker.close(true).catch((error: unknown) => {
        log.debug({ queue, cause: messageOf(error) }, "a silent consumer could not be closed");
      });
    }
  };
  const looks = new Periodic({
    everyMs: LOOK_MS,
    clock,
    run: replaceSilent,
    onError: (error) => log.warn({ cause: messageOf(error) }, "the consumers could not be looked after"),
  });

  for (const queue of options.queues) open(queue);

  const giveUpWaiting = () => {
    isPaused = true;
    places.close();
  };
  // BullMQ waits for the connection to come back, and fails when it does not: neither may keep a process that has to end.
  const boundedly = async (what: string, work: Promise<unknown>): Promise<void> => {
    let timer: NodeJS.Timeout | undefined;
    const deadline = new Promise<void>((resolve) => (timer = setTimeout(resolve, STOP_TIMEOUT_MS)));
    const tried = work.catch((error: unknown) =>
      log.debug({ cause: messageOf(error) }, `a consumer could not ${what}`),
    );
    await Promise.race([tried, deadline]).finally(() => clearTimeout(timer));
  };
  const whatIsHandled = async (): Promise<void> => {
    while (handled.size > 0) await Promise.allSettled(handled);
  };

  let stopping: Promise<void> | undefined;
  return {
    silentMs: () => Math.max(0, ...[...takers].map(([queue, taker]) => silentMsOf(queue, taker))),
    start: async () => {
      for (const [queue, taker] of takers) {
        taker.lastAnswer = clock.now();
        run(queue, taker);
      }
      await looks.start();
    },
    pause: async () => {
      giveUpWaiting();
      await looks.stop();
      const pausing = Promise.all([...takers.values()].map(({ worker }) => worker.pause()));
      pausing.catch(() => undefined);
      await whatIsHandled();
      await boundedly("pause", pausing);
    },
    stop: () => {
      giveUpWaiting();
      return (stopping ??= looks
        .stop()
        .then(whatIsHandled)
        .then(() => boundedly("close", Promise.all([...takers.values()].map(({ worker }) => worker.close())))));
    },
  };
}

/** Calls `told` with every answer that the queue gives to a question for work, be it that there is none. */
function noteAnswers(worker: Worker<AttemptMessage>, told: () => void): void {
  // Not public in BullMQ's types, and the only place where an answer is seen that brings no message.
  const asking = worker as unknown as {
    moveToActive: (token: string, name?: string) => Promise<unknown>;
    waitForJob: (blockUntil: number) => Promise<number>;
  };
  const moveToActive = asking.moveToActive.bind(worker);
  const waitForJob = asking.waitForJob.bind(worker);
  asking.moveToActive = async (token, name) => {
    const job = await moveToActive(token, name);
    told();
    return job;
  };
  asking.waitForJob = async (blockUntil) => {
    const until = await waitForJob(blockUntil);
    // Infinity stands for an error.
    if (until !== Infinity) told();
    return until;
  };
}
