// One contract for both brokers: what the rest relies on, whichever of them is behind the door.
import { testDatabase, testRedisUrl, waitUntil } from "@millrace/testkit";
import { afterEach, describe, expect, onTestFinished, test } from "vitest";
import { newId } from "../db/new-id.ts";
import { createLogger } from "../observability/index.ts";
import { brokerKinds } from "./fixtures/broker-kinds.ts";
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

const kinds = brokerKinds(redisUrl, database.url, PREFIX);

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

  test("tells how long ago its queue answered, also when the answer is that there is nothing", async () => {
    const { consumer } = await consume(open(), { queues: [newQueue()] });
    let longest = 0;
    await waitUntil(
      () => {
        const silentMs = consumer.silentMs();
        const isAnswered = longest > 1_000 && silentMs < longest;
        longest = Math.max(longest, silentMs);
        return isAnswered;
      },
      { what: "an empty queue answers", timeoutMs: 15_000 },
    );
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
