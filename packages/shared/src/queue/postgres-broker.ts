// The broker of a small installation: BullMQ's Postgres backend, with NOTIFY for wakes and signals. One program, one
// database, nothing else to run. NOTIFY serialises commits, so production uses Redis.
import { createPostgresBackend, withBackend, type Worker as BullWorker } from "bullmq";
import pg from "pg";
import { AppError, messageOf } from "../errors/index.ts";
import { SignalGate } from "../lifecycle/index.ts";
import { withoutPassword, type Logger } from "../observability/index.ts";
import {
  bullQueueName,
  jobIdOf,
  readSignal,
  readWakes,
  type AttemptMessage,
  type Broker,
  type Wake,
} from "./broker.ts";
import { consumeWithBull, type MakeWorker } from "./bull-consumer.ts";

export interface PostgresBrokerOptions {
  readonly databaseUrl: string;
  readonly log: Logger;
}

const { Queue, Worker } = withBackend(createPostgresBackend);
type PostgresQueue = InstanceType<typeof Queue<AttemptMessage>>;

const WAKE = "millrace_wake";
const SIGNAL = "millrace_signal";
const TRIGGERS = "millrace_triggers";
const MAX_NOTIFY_BYTES = 7_000;

export function openPostgresBroker({ databaseUrl, log }: PostgresBrokerOptions): Broker {
  const target = withoutPassword(databaseUrl);
  const connection = {
    connectionString: databaseUrl,
    schema: "bullmq",
    migrate: true,
    max: 4,
    application_name: "millrace broker",
  };
  const pool = new pg.Pool({
    connectionString: databaseUrl,
    max: 2,
    application_name: "millrace broker",
    keepAlive: true,
    query_timeout: 10_000,
    connectionTimeoutMillis: 10_000,
  });
  pool.on("error", (error) => log.debug({ cause: messageOf(error) }, "a broker connection was lost"));
  const queues = new Map<string, PostgresQueue>();
  const pending: Wake[] = [];
  const gate = new SignalGate();
  const reconnectListeners: (() => void)[] = [];
  const signalListeners: ((ids: readonly string[]) => void)[] = [];
  const triggererListeners: (() => void)[] = [];
  let listener: pg.Client | undefined;
  let closed = false;

  const listen = async (): Promise<void> => {
    const client = new pg.Client({
      connectionString: databaseUrl,
      application_name: "millrace broker listen",
      keepAlive: true,
    });
    listener = client;
    client.on("notification", ({ channel, payload }) => {
      if (channel === WAKE) {
        pending.push(...readWakes(payload));
        gate.set();
      } else if (channel === TRIGGERS) {
        for (const tell of triggererListeners) tell();
      } else {
        for (const tell of signalListeners) tell(readSignal(payload));
      }
    });
    const again = () => {
      if (closed || listener !== client) return;
      listener = undefined;
      setTimeout(() => {
        if (closed) return;
        ensureListening()
          .then(() => {
            for (const tell of reconnectListeners) tell();
          })
          .catch(() => undefined);
      }, 500).unref();
    };
    client.on("error", again);
    client.on("end", again);
    await client.connect();
    await client.query(`listen ${WAKE}`);
    await client.query(`listen ${SIGNAL}`);
    await client.query(`listen ${TRIGGERS}`);
  };
  let listening: Promise<void> | undefined;
  const ensureListening = async (): Promise<void> => {
    if (listener !== undefined && listening === undefined) return;
    listening ??= listen().finally(() => {
      listening = undefined;
    });
    await listening;
  };

  const notify = (channel: string, items: readonly unknown[]) => {
    for (let from = 0; from < items.length;) {
      let to = from + 1;
      while (to < items.length && JSON.stringify(items.slice(from, to + 1)).length < MAX_NOTIFY_BYTES) to++;
      pool
        .query("select pg_notify($1, $2)", [channel, JSON.stringify(items.slice(from, to))])
        .catch((error: unknown) => {
          log.debug({ cause: messageOf(error) }, "a hint was lost");
        });
      from = to;
    }
  };

  const makeWorker: MakeWorker = (queue, handle, options) =>
    new Worker<AttemptMessage>(bullQueueName(queue), handle, {
      ...options,
      connection,
    }) as unknown as BullWorker<AttemptMessage>; // the same worker over another backend

  return {
    target,
    check: async () => {
      try {
        await pool.query("select 1");
      } catch (error) {
        throw new AppError("BROKER_UNREACHABLE", { target, cause: messageOf(error) }, { cause: error });
      }
    },
    send: async (name, messages, options) => {
      if (messages.length === 0) return;
      let queue = queues.get(name);
      if (queue === undefined) {
        queue = new Queue<AttemptMessage>(bullQueueName(name), { connection });
        queue.on("error", (error) => log.debug({ cause: messageOf(error) }, "the queue answered with an error"));
        queues.set(name, queue);
      }
      await queue.addBulk(
        messages.map((data) => ({
          name: "attempt",
          data: { id: data.id, epoch: data.epoch },
          opts: { jobId: jobIdOf(data, options?.again), attempts: 1, removeOnComplete: true, removeOnFail: true },
        })),
      );
    },
    consume: (options) =>
      consumeWithBull(
        makeWorker,
        {
          ...options,
          isThere: () =>
            pool.query("select 1").then(
              () => true,
              () => false,
            ),
        },
        log,
      ),
    wake: (wakes) => notify(WAKE, wakes),
    takeWakes: async (timeoutMs) => {
      await ensureListening().catch(() => undefined);
      if (pending.length === 0) await gate.wait(timeoutMs);
      return pending.splice(0);
    },
    interruptTake: () => gate.set(),
    signalAttempts: (ids) => notify(SIGNAL, ids),
    onSignal: async (tell) => {
      signalListeners.push(tell);
      await ensureListening();
    },
    callTriggerers: () => notify(TRIGGERS, [true]),
    onTriggererCall: async (tell) => {
      triggererListeners.push(tell);
      await ensureListening();
    },
    onReconnect: (tell) => reconnectListeners.push(tell),
    close: async () => {
      closed = true;
      await Promise.allSettled([...queues.values()].map((queue) => queue.close()));
      await listener?.end().catch(() => undefined);
      await pool.end();
    },
  };
}
