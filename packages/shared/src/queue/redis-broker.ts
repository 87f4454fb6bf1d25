// The broker of production: BullMQ on Redis. Wakes are a list from which each is taken by one scheduler; stop signals
// are pub/sub to every worker.
import { Queue, Worker } from "bullmq";
import { Redis } from "ioredis";
import { AppError, messageOf } from "../errors/index.ts";
import { withoutPassword, type Logger } from "../observability/index.ts";
import { bullQueueName, jobIdOf, readSignal, readWakes, type AttemptMessage, type Broker } from "./broker.ts";
import { consumeWithBull } from "./bull-consumer.ts";

export interface RedisBrokerOptions {
  readonly url: string;
  readonly prefix: string;
  readonly log: Logger;
}

// Without a scheduler to take them wakes would pile up; the sweep finds what fell off.
const MAX_WAKES = 100_000;
const TAKE_AT_ONCE = 1_000;
const SEND_TIMEOUT_MS = 10_000;
const LAST_WORDS_MS = 1_000;
const PROBE_TIMEOUT_MS = 2_000;

export function openRedisBroker({ url, prefix, log }: RedisBrokerOptions): Broker {
  const target = withoutPassword(url);
  const base = {
    ...addressOf(url),
    maxRetriesPerRequest: null,
    retryStrategy: (times: number) => Math.min(50 * 2 ** Math.min(times, 6), 1_000),
    connectTimeout: 5_000,
    keepAlive: 5_000,
  };
  const reconnectListeners: (() => void)[] = [];
  const connections = new Set<Redis>();
  const connect = (): Redis => {
    const redis = new Redis(base);
    redis.on("error", (error) => log.debug({ cause: messageOf(error) }, "redis connection error"));
    connections.add(redis);
    return redis;
  };
  const main = connect();
  let wasReady = false;
  main.on("ready", () => {
    if (wasReady) for (const listener of reconnectListeners) listener();
    wasReady = true;
  });
  let taker: Redis | undefined;
  const wakeKey = `${prefix}:wake`;
  const signalChannel = `${prefix}:signal`;
  const triggererChannel = `${prefix}:triggers`;
  const queues = new Map<string, Queue<AttemptMessage>>();
  const queueOf = (name: string): Queue<AttemptMessage> => {
    let queue = queues.get(name);
    if (queue === undefined) {
      queue = new Queue<AttemptMessage>(bullQueueName(name), { connection: main, prefix });
      queue.on("error", (error) => log.debug({ cause: messageOf(error) }, "redis connection error"));
      queues.set(name, queue);
    }
    return queue;
  };
  // While the first connection is made a hint waits for it; while a lost one is made anew there would be no end to waiting.
  const canSay = () => main.status === "ready" || (!wasReady && main.status.startsWith("connect"));
  const saying = new Set<Promise<unknown>>();
  const fireAndForget = (command: Promise<unknown>) => {
    const said = command
      .catch((error: unknown) => log.debug({ cause: messageOf(error) }, "a hint to redis was lost"))
      .finally(() => saying.delete(said));
    saying.add(said);
  };
  const openProbe = () => new Redis({ ...base, maxRetriesPerRequest: 0, retryStrategy: () => null, lazyConnect: true });
  /** Over a connection of its own: what the others believe of theirs may be wrong. */
  const isThere = async (): Promise<boolean> => {
    const probe = openProbe();
    probe.on("error", () => undefined);
    try {
      await within(
        PROBE_TIMEOUT_MS,
        probe.connect().then(() => probe.ping()),
      );
      return true;
    } catch {
      return false;
    } finally {
      probe.disconnect();
    }
  };
  return {
    target,
    check: async () => {
      const probe = openProbe();
      let cause = "";
      probe.on("error", (error) => (cause = messageOf(error)));
      try {
        await probe.connect();
        const policy = /maxmemory_policy:(\S+)/.exec(await probe.info("memory"))?.[1] ?? "noeviction";
        if (policy !== "noeviction") throw new AppError("BROKER_EVICTS", { target, policy });
      } catch (error) {
        if (error instanceof AppError) throw error;
        throw new AppError("BROKER_UNREACHABLE", { target, cause: cause || messageOf(error) }, { cause: error });
      } finally {
        probe.disconnect();
      }
    },
    send: async (queue, messages, options) => {
      if (messages.length === 0) return;
      const jobs = messages.map((data) => ({
        name: "attempt",
        data: { id: data.id, epoch: data.epoch },
        opts: { jobId: jobIdOf(data, options?.again), attempts: 1, removeOnComplete: true, removeOnFail: true },
      }));
      try {
        await within(SEND_TIMEOUT_MS, queueOf(queue).addBulk(jobs));
      } catch (error) {
        // A way that swallows everything looks like a connection for minutes; a new one does not.
        if (error instanceof NoAnswerError) main.disconnect(true);
        throw error;
      }
    },
    consume: (options) =>
      consumeWithBull(
        (queue, handle, workerOptions) =>
          new Worker<AttemptMessage>(bullQueueName(queue), handle, { ...workerOptions, connection: base, prefix }),
        { ...options, isThere },
        log,
      ),
    wake: (wakes) => {
      if (wakes.length === 0 || !canSay()) return;
      const said = main.rpush(wakeKey, JSON.stringify(wakes)).then(async (length) => {
        if (length > MAX_WAKES) await main.ltrim(wakeKey, -MAX_WAKES / 2, -1);
      });
      fireAndForget(said);
    },
    takeWakes: async (timeoutMs) => {
      const connection = (taker ??= connect());
      const seconds = Math.max(timeoutMs, 1) / 1000;
      try {
        // The process's own deadline ends the wait when Redis is away or hangs.
        const taken = await within(
          timeoutMs + 250,
          connection.call("BLMPOP", seconds, 1, wakeKey, "LEFT", "COUNT", TAKE_AT_ONCE) as Promise<
            [string, string[]] | null
          >,
        );
        return (taken?.[1] ?? []).flatMap(readWakes);
      } catch (error) {
        log.debug({ cause: messageOf(error) }, "wakes could not be taken");
        // A command that was given up may still take wakes later and lose them: the connection is made anew.
        connection.disconnect();
        connections.delete(connection);
        if (taker === connection) taker = undefined;
        return [];
      }
    },
    interruptTake: () => {
      taker?.disconnect();
      taker = undefined;
    },
    signalAttempts: (ids) => {
      if (ids.length > 0 && canSay()) fireAndForget(main.publish(signalChannel, JSON.stringify(ids)));
    },
    onSignal: async (listener) => {
      const subscriber = connect();
      subscriber.on("message", (_channel, payload) => listener(readSignal(payload)));
      await subscriber.subscribe(signalChannel);
    },
    callTriggerers: () => {
      if (canSay()) fireAndForget(main.publish(triggererChannel, ""));
    },
    onTriggererCall: async (listener) => {
      const subscriber = connect();
      subscriber.on("message", () => listener());
      await subscriber.subscribe(triggererChannel);
    },
    onReconnect: (listener) => reconnectListeners.push(listener),
    close: async () => {
      // A command that ends right after it said something has said it.
      await within(LAST_WORDS_MS, Promise.all(saying)).catch(() => undefined);
      await Promise.allSettled([...queues.values()].map((queue) => queue.close()));
      for (const redis of connections) redis.disconnect();
    },
  };
}

/** BullMQ's worker makes its own blocking connection and wants options, not an address. */
function addressOf(url: string) {
  const { hostname, port, username, password, pathname, protocol } = new URL(url);
  return {
    host: hostname,
    port: port === "" ? 6379 : Number(port),
    db: pathname.length > 1 ? Number(pathname.slice(1)) : 0,
    ...(username === "" ? {} : { username: decodeURIComponent(username) }),
    ...(password === "" ? {} : { password: decodeURIComponent(password) }),
    ...(protocol === "rediss:" ? { tls: {} } : {}),
  };
}

class NoAnswerError extends Error {
  constructor(ms: number) {
    super(`no answer from redis within ${ms} ms`);
  }
}

async function within<T>(ms: number, work: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const deadline = new Promise<never>((_resolve, reject) => {
    timer = setTimeout(() => reject(new NoAnswerError(ms)), ms);
  });
  try {
    return await Promise.race([work, deadline]);
  } finally {
    clearTimeout(timer);
  }
}
