// One contract for both brokers: what the rest relies on, whichever of them is behind the door.
import { createServer, type AddressInfo, type Server } from "node:net";
import { testDatabase, testRedisUrl, waitUntil } from "@millrace/testkit";
import { createPostgresBackend, Queue, withBackend } from "bullmq";
import { Redis } from "ioredis";
import pg from "pg";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { newId } from "../db/new-id.ts";
import { createLogger } from "../observability/index.ts";
import { openBroker, type AttemptMessage, type Broker, type ConsumeOptions } from "./index.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
const PREFIX = "contract";

const lines: string[] = [];
const log = createLogger({ level: "debug", name: "test", destination: { write: (line) => void lines.push(line) } });
const logged = (text: string) => lines.filter((line) => line.includes(text)).length;

const opened: Broker[] = [];
afterEach(async () => {
  await Promise.all(opened.splice(0).map((broker) => broker.close()));
  lines.length = 0;
});

interface Kind {
  readonly url: string;
  /** Puts a job of any content into a queue, past the broker. */
  readonly addRaw: (queue: string, data: unknown) => Promise<void>;
  /** Cuts every connection that the brokers have, and gives how many. */
  readonly cutConnections: () => Promise<number>;
}

async function queryDatabase<R extends pg.QueryResultRow>(sql: string): Promise<R[]> {
  const client = new pg.Client({ connectionString: database.url });
  await client.connect();
  try {
    return (await client.query<R>(sql)).rows;
  } finally {
    await client.end();
  }
}

const kinds: Readonly<Record<"redis" | "postgres", Kind>> = {
  redis: {
    url: redisUrl,
    addRaw: async (name, data) => {
      const connection = new Redis(redisUrl, { maxRetriesPerRequest: null });
      const queue = new Queue(name, { connection, prefix: PREFIX });
      await queue.add("attempt", data);
      await queue.close();
      await connection.quit();
    },
    cutConnections: async () => {
      const admin = new Redis(redisUrl);
      const own = String(await admin.client("ID"));
      const db = ` db=${new URL(redisUrl).pathname.slice(1)} `;
      const clients = String(await admin.client("LIST"))
        .split("\n")
        .filter((line) => line.includes(db));
      const ids = clients.map((line) => /^id=(\d+)/.exec(line)?.[1] ?? "").filter((id) => id !== own);
      for (const id of ids) await admin.client("KILL", "ID", id);
      await admin.quit();
      return ids.length;
    },
  },
  postgres: {
    url: "postgres",
    addRaw: async (name, data) => {
      const backend = withBackend(createPostgresBackend);
      const queue = new backend.Queue(name, {
        connection: { connectionString: database.url, schema: "bullmq", migrate: true },
      });
      await queue.add("attempt", data);
      await queue.close();
    },
    cutConnections: async () =>
      (
        await queryDatabase(
          "select pg_terminate_backend(pid) from pg_stat_activity where datname = current_database() and application_name like 'millrace broker%'",
        )
      ).length,
  },
};

describe.each(["redis", "postgres"] as const)("the broker on %s", (name) => {
  const kind = kinds[name];
  let queues = 0;
  const newQueue = () => `${name}_${++queues}`;

  function open(): Broker {
    const broker = openBroker({ url: kind.url, prefix: PREFIX, databaseUrl: database.url, log });
    opened.push(broker);
    return broker;
  }

  /** A consumer that is stopped after the test, and what it was given. */
  async function consume(broker: Broker, given: Partial<ConsumeOptions> & Pick<ConsumeOptions, "queues">) {
    const taken: (AttemptMessage & { queue: string })[] = [];
    const consumer = broker.consume({
      concurrency: 4,
      ...given,
      handle: async (message, queue) => {
        taken.push({ ...message, queue });
        await given.handle?.(message, queue);
      },
    });
    await consumer.start();
    onTestFinished(() => {
      // A test that failed holds messages, and a stop would wait for them.
      for (const release of releases.splice(0)) release();
      return consumer.stop();
    });
    const arrived = (n: number) =>
      waitUntil(() => taken.length >= n, { what: `${n} messages are taken`, timeoutMs: 15_000 });
    return { consumer, taken, arrived };
  }

  const releases: (() => void)[] = [];

  /** Messages that are held until they are let go. */
  function gate() {
    const held: (() => void)[] = [];
    let shut = true;
    let most = 0;
    let active = 0;
    const open = () => {
      shut = false;
      for (const release of held.splice(0)) release();
    };
    releases.push(open);
    return {
      open,
      handle: async () => {
        most = Math.max(most, ++active);
        if (shut) await new Promise<void>((resolve) => held.push(resolve));
        active--;
      },
      active: () => active,
      most: () => most,
    };
  }

  const messages = (n: number): AttemptMessage[] => Array.from({ length: n }, (_, i) => ({ id: newId(), epoch: i }));

  test("gives each message to one consumer once, with its id and epoch, in order", async () => {
    const broker = open();
    const queue = newQueue();
    const sent = messages(20);
    await broker.send(queue, sent);
    await broker.send(queue, []);
    const { taken, arrived } = await consume(broker, { queues: [queue], concurrency: 1 });
    await arrived(20);
    expect(taken).toEqual(sent.map((message) => ({ ...message, queue })));
  });

  test("takes a message that is there already for the same, and the next epoch of its attempt for another", async () => {
    const broker = open();
    const queue = newQueue();
    const [message] = messages(1) as [AttemptMessage];
    await broker.send(queue, [message, message]);
    await broker.send(queue, [message]);
    await broker.send(queue, [{ ...message, epoch: 7 }]);
    const { taken, arrived } = await consume(broker, { queues: [queue] });
    await arrived(2);
    expect(taken.map((one) => one.epoch).toSorted((a, b) => a - b)).toEqual([0, 7]);
    // A message that was handled leaves no trace that would swallow the same one later.
    await waitUntil(() => broker.send(queue, [message]).then(() => taken.length >= 3), {
      what: "the same comes again",
    });
  });

  test("drops what names no attempt, says so, and goes on", async () => {
    const broker = open();
    const queue = newQueue();
    for (const data of [
      { id: "../etc", epoch: 1 },
      { id: newId() },
      { id: newId(), epoch: "1" },
      {},
      { id: newId(), epoch: 1.5 },
    ])
      await kind.addRaw(queue, data);
    const { taken, arrived } = await consume(broker, { queues: [queue] });
    const [good] = messages(1) as [AttemptMessage];
    await broker.send(queue, [good]);
    await arrived(1);
    await waitUntil(() => logged("names no attempt") === 5, { what: "every bad message is logged" });
    expect(taken).toEqual([{ ...good, queue }]);
  });

  test("survives a handler that fails: the message is gone, the next one comes", async () => {
    const broker = open();
    const queue = newQueue();
    const { arrived, taken } = await consume(broker, {
      queues: [queue],
      handle: () => Promise.reject(new Error("boom")),
    });
    await broker.send(queue, messages(2));
    await arrived(2);
    await waitUntil(() => logged("could not be handled") === 2, { what: "both failures are logged" });
    expect(taken).toHaveLength(2);
  });

  test("handles no more at once than it was asked to, over all its queues, and lets an idle queue hold no place back", async () => {
    const broker = open();
    const both = [newQueue(), newQueue()] as const;
    const held = gate();
    const { arrived } = await consume(broker, { queues: both, concurrency: 3, handle: held.handle });
    await broker.send(both[0], messages(6));
    await waitUntil(() => held.active() === 3, { what: "one queue uses all places" });
    await broker.send(both[1], messages(6));
    held.open();
    await arrived(12);
    expect(held.most()).toBe(3);
  });

  test("handles no more at once than it was asked to when all its queues are full at its start", async () => {
    const broker = open();
    const three = [newQueue(), newQueue(), newQueue()] as const;
    for (const queue of three) await broker.send(queue, messages(4));
    const held = gate();
    const { arrived } = await consume(broker, { queues: three, concurrency: 2, handle: held.handle });
    await waitUntil(() => held.active() >= 2, { what: "all places are used" });
    // Every queue has been asked by now: what was going to be taken too much is.
    const beyond = newQueue();
    const other = await consume(broker, { queues: [beyond] });
    await broker.send(beyond, messages(1));
    await other.arrived(1);
    expect(held.active()).toBe(2);
    held.open();
    await arrived(12);
    expect(held.most()).toBe(2);
  });

  test("pauses and stops when what is being handled is done, and takes no more", async () => {
    const broker = open();
    const queue = newQueue();
    const held = gate();
    const { consumer, taken } = await consume(broker, { queues: [queue], concurrency: 1, handle: held.handle });
    await broker.send(queue, messages(2));
    await waitUntil(() => held.active() === 1, { what: "a message is being handled" });
    let paused = false;
    const pausing = consumer.pause().then(() => (paused = true));
    await new Promise((resolve) => setImmediate(resolve));
    expect(paused).toBe(false);
    held.open();
    await pausing;
    expect(held.active()).toBe(0);
    await Promise.all([consumer.stop(), consumer.stop()]);
    expect(taken).toHaveLength(1);
    const next = await consume(broker, { queues: [queue] });
    await next.arrived(1);
  });

  test("carries wakes from any process to one that takes them", async () => {
    const [speaker, taker] = [open(), open()];
    await Promise.all([speaker.check(), taker.takeWakes(1)]);
    const wakes = [
      { dagRunId: 1, taskIds: ["a", "b"] },
      { dagRunId: null, taskIds: null },
      { dagRunId: 2, taskIds: null },
    ];
    speaker.wake(wakes.slice(0, 2));
    speaker.wake(wakes.slice(2));
    speaker.wake([]);
    const taken: unknown[] = [];
    await waitUntil(async () => taken.push(...(await taker.takeWakes(200))) && taken.length >= 3, {
      what: "the wakes arrive",
    });
    expect(taken).toEqual(wakes);
    expect(await taker.takeWakes(1)).toEqual([]);
  });

  test("carries many wakes at once, longer than one notification", async () => {
    const broker = open();
    await broker.takeWakes(1);
    const wakes = Array.from({ length: 2_000 }, (_, i) => ({ dagRunId: i, taskIds: [`task_${i}`] }));
    broker.wake(wakes);
    const taken: { dagRunId: number | null }[] = [];
    await waitUntil(async () => taken.push(...(await broker.takeWakes(200))) && taken.length >= 2_000, {
      what: "all wakes arrive",
    });
    expect(new Set(taken.map((wake) => wake.dagRunId)).size).toBe(2_000);
  });

  test("ends a wait for wakes when it is interrupted, and the next wait works", async () => {
    const broker = open();
    await broker.takeWakes(1);
    const waiting = broker.takeWakes(60_000);
    await waitUntil(
      async () => {
        broker.interruptTake();
        return await Promise.race([
          waiting.then(() => true),
          new Promise<false>((resolve) => setImmediate(() => resolve(false))),
        ]);
      },
      { what: "the wait ends" },
    );
    expect(await waiting).toEqual([]);
    broker.wake([{ dagRunId: 5, taskIds: null }]);
    expect(await waitUntil(async () => (await broker.takeWakes(500))[0], { what: "a wake arrives after it" })).toEqual({
      dagRunId: 5,
      taskIds: null,
    });
  });

  test("brings stop signals to every listener", async () => {
    const [speaker, one, two] = [open(), open(), open()];
    const heard: string[] = [];
    await one.onSignal((ids) => heard.push(...ids.map((id) => `one ${id}`)));
    await two.onSignal((ids) => heard.push(...ids.map((id) => `two ${id}`)));
    await speaker.check();
    const id = newId();
    await waitUntil(
      () => {
        speaker.signalAttempts([id]);
        return heard.includes(`one ${id}`) && heard.includes(`two ${id}`);
      },
      { what: "both hear of it" },
    );
    speaker.signalAttempts([]);
  });

  test("comes back by itself when its connections are cut, tells so, and loses no message", async () => {
    const broker = open();
    const queue = newQueue();
    const { arrived, taken } = await consume(broker, { queues: [queue] });
    let reconnected = 0;
    broker.onReconnect(() => reconnected++);
    const heard: string[] = [];
    await broker.onSignal((ids) => heard.push(...ids));
    await broker.takeWakes(1);
    await broker.send(queue, messages(1));
    await arrived(1);
    expect(await kind.cutConnections()).toBeGreaterThan(0);
    await waitUntil(() => reconnected > 0, { what: "the loss is told", timeoutMs: 10_000 });
    const sent = messages(3);
    await waitUntil(() => broker.send(queue, sent).then(() => true), {
      what: "messages can be sent again",
      timeoutMs: 10_000,
    });
    await arrived(4);
    expect(
      taken
        .slice(1)
        .map((message) => message.id)
        .toSorted(),
    ).toEqual(sent.map((message) => message.id).toSorted());
    await waitUntil(
      () => {
        broker.signalAttempts(["again"]);
        return heard.includes("again");
      },
      { what: "signals are heard again", timeoutMs: 10_000 },
    );
  }, 40_000);
});

describe("a check of the broker", () => {
  /** Speaks just enough of Redis's protocol to be asked for its memory policy. */
  async function redisThatSays(policy: string): Promise<{ url: string; server: Server }> {
    const info = `redis_version:7.4.0\r\nmaxmemory_policy:${policy}\r\n`;
    const server = createServer((socket) => {
      socket.on("error", () => undefined);
      socket.on("data", (data) => {
        for (const command of data.toString().split(/(?=\*\d+\r\n)/)) {
          socket.write(/\r\ninfo\r\n/i.test(command) ? `$${info.length}\r\n${info}\r\n` : "+OK\r\n");
        }
      });
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    onTestFinished(() => void server.close());
    return { url: `redis://:hush@127.0.0.1:${(server.address() as AddressInfo).port}`, server };
  }

  const checkOf = (url: string) => {
    const broker = openBroker({ url, prefix: PREFIX, databaseUrl: "postgres://u:hush@127.0.0.1:1/x", log });
    opened.push(broker);
    return broker.check();
  };

  test("is content with the servers that are there", async () => {
    await checkOf(redisUrl);
  });

  test.each(["allkeys-lru", "volatile-ttl"])("refuses a Redis that may throw work away: %s", async (policy) => {
    const { url } = await redisThatSays(policy);
    await expect(checkOf(url)).rejects.toMatchObject({ code: "BROKER_EVICTS", values: { policy } });
  });

  test("accepts one that says that it does not", async () => {
    await checkOf((await redisThatSays("noeviction")).url);
  });

  test.each(["redis://:hush@127.0.0.1:1/0", "postgres"])(
    "names the server that cannot be reached, without its password: %s",
    async (url) => {
      const error: unknown = await checkOf(url).catch((caught: unknown) => caught);
      expect(error).toMatchObject({ code: "BROKER_UNREACHABLE" });
      expect(String(error)).toMatch(/127\.0\.0\.1:1.*ECONNREFUSED/);
      expect(String(error)).not.toContain("hush");
    },
  );
});
