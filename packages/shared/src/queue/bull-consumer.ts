// Takes attempts from BullMQ. One BullMQ worker a queue; together they handle at most `concurrency` messages, each one
// taking as many as are free, so that an idle queue holds no place back.
import type { Job, Worker } from "bullmq";
import { messageOf } from "../errors/index.ts";
import type { Logger } from "../observability/index.ts";
import type { AttemptMessage, ConsumeOptions, Consumer } from "./broker.ts";

export type MakeWorker = (
  queue: string,
  handle: (job: Job<AttemptMessage>) => Promise<void>,
  options: typeof WORKER_OPTIONS & { readonly concurrency: number },
) => Worker<AttemptMessage>;

// BullMQ never decides a retry: a message that stalls is delivered again, and its claim in Postgres refused.
const WORKER_OPTIONS = {
  autorun: false,
  maxStalledCount: 1_000_000,
  lockDuration: 30_000,
  stalledInterval: 30_000,
  drainDelay: 5,
  removeOnComplete: { count: 0 },
  removeOnFail: { count: 0 },
} as const;

export function consumeWithBull(makeWorker: MakeWorker, options: ConsumeOptions, log: Logger): Consumer {
  const active = new Map<string, number>(options.queues.map((queue) => [queue, 0]));
  const workers = new Map<string, Worker<AttemptMessage>>();

  const spread = () => {
    const busy = [...active.values()].reduce((sum, n) => sum + n, 0);
    for (const [queue, worker] of workers) {
      const own = active.get(queue) ?? 0;
      const wanted = Math.max(1, own + options.concurrency - busy);
      if (worker.concurrency !== wanted) worker.concurrency = wanted;
    }
  };
  const count = (queue: string, by: number) => {
    active.set(queue, (active.get(queue) ?? 0) + by);
    if (workers.size > 1) spread();
  };

  // Workers that look at the same moment all see the places free. What was taken beyond them waits for its turn, and is
  // given up when the consumer pauses: it is a hint, and what is still queued is sent again.
  let places = options.concurrency;
  let isPaused = false;
  const turns: ((isMine: boolean) => void)[] = [];
  const enter = async (): Promise<boolean> => {
    if (places === 0) return isPaused ? false : await new Promise<boolean>((resolve) => turns.push(resolve));
    places--;
    return true;
  };
  const leave = () => {
    const next = turns.shift();
    if (next === undefined) places++;
    else next(true);
  };
  const giveUpWaiting = () => {
    isPaused = true;
    for (const turn of turns.splice(0)) turn(false);
  };

  for (const queue of options.queues) {
    const worker = makeWorker(
      queue,
      async (job) => {
        const message = readMessage(job.data);
        if (message === undefined) {
          log.warn({ queue, job: job.id }, "a message that names no attempt was dropped");
          return;
        }
        count(queue, 1);
        try {
          if (!(await enter())) return;
          try {
            await options.handle(message, queue);
          } finally {
            leave();
          }
        } catch (error) {
          log.error({ queue, attempt: message.id, cause: messageOf(error) }, "an attempt could not be handled");
        } finally {
          count(queue, -1);
        }
      },
      { ...WORKER_OPTIONS, concurrency: options.concurrency },
    );
    worker.on("error", (error) => log.debug({ queue, cause: messageOf(error) }, "the queue answered with an error"));
    workers.set(queue, worker);
  }

  let stopping: Promise<void> | undefined;
  return {
    start: async () => {
      for (const [queue, worker] of workers) {
        worker.run().catch((error: unknown) => log.error({ queue, cause: messageOf(error) }, "a consumer ended"));
      }
      await Promise.resolve();
    },
    pause: async () => {
      giveUpWaiting();
      await Promise.all([...workers.values()].map((worker) => worker.pause()));
    },
    stop: () => {
      giveUpWaiting();
      return (stopping ??= Promise.all([...workers.values()].map((worker) => worker.close())).then(() => undefined));
    },
  };
}

function readMessage(data: unknown): AttemptMessage | undefined {
  const { id, epoch } = (data ?? {}) as { id?: unknown; epoch?: unknown };
  const isId = typeof id === "string" && /^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/.test(id);
  return isId && Number.isSafeInteger(epoch) ? { id, epoch: epoch as number } : undefined;
}
