// What becomes of a BullMQ worker that stops asking for work, as one may after an outage. The worker is a stand-in whose
// answers the test gives, so that ten minutes pass at once.
import { EventEmitter } from "node:events";
import { fakeClock } from "@millrace/testkit";
import type { Job, Worker } from "bullmq";
import { describe, expect, test } from "vitest";
import { createLogger } from "../observability/index.ts";
import type { AttemptMessage } from "./broker.ts";
import { consumeWithBull, SILENT_MS } from "./bull-consumer.ts";

const MESSAGE = { id: "01900000-0000-7000-8000-000000000001", epoch: 2 };

class StandIn extends EventEmitter {
  concurrency = 4;
  isClosed = false;
  readonly handle: (job: Job<AttemptMessage>) => Promise<void>;

  constructor(handle: (job: Job<AttemptMessage>) => Promise<void>) {
    super();
    this.handle = handle;
  }
  run = () => Promise.resolve();
  pause = () => Promise.resolve();
  close = () => {
    this.isClosed = true;
    return Promise.resolve();
  };
  moveToActive = () => Promise.resolve(undefined);
  waitForJob = (until: number) => Promise.resolve(until);
  /** The queue says that there is nothing; Infinity is an error. */
  answer = async (until = 0) => void (await this.waitForJob(until));
  deliver = async () => await this.handle({ data: MESSAGE } as unknown as Job<AttemptMessage>);
}

function open() {
  const clock = fakeClock();
  const made: StandIn[] = [];
  const lines: string[] = [];
  const held: (() => void)[] = [];
  const server = { isThere: true };
  const consumer = consumeWithBull(
    (_queue, handle) => {
      const worker = new StandIn(handle);
      made.push(worker);
      return worker as unknown as Worker<AttemptMessage>;
    },
    {
      queues: ["q"],
      concurrency: 4,
      handle: () => new Promise<void>((resolve) => held.push(resolve)),
      isThere: () => Promise.resolve(server.isThere),
      clock,
    },
    createLogger({ level: "info", name: "test", destination: { write: (line) => void lines.push(line) } }),
  );
  return { clock, made, lines, held, server, consumer, last: () => made.at(-1) as StandIn };
}

describe("a consumer", () => {
  test("is left alone while its questions are answered, be it that there is nothing", async () => {
    const { clock, made, consumer, last } = open();
    await consumer.start();
    for (let i = 0; i < 60; i++) {
      await clock.advance(5_000);
      await last().answer();
      expect(consumer.silentMs()).toBe(0);
    }
    expect(made).toHaveLength(1);
    await consumer.stop();
    expect(clock.pending).toBe(0);
  });

  test("that is told nothing by a server that answers is made anew, and its first worker put away", async () => {
    const { clock, made, lines, consumer, last } = open();
    await consumer.start();
    await clock.advance(SILENT_MS - 1_000);
    await last().answer(Infinity);
    expect([made.length, consumer.silentMs()]).toEqual([1, SILENT_MS - 1_000]);
    await clock.advance(4_000);
    expect(made.map((worker) => worker.isClosed)).toEqual([true, false]);
    expect(lines.join("")).toMatch(/made anew/);
    await consumer.stop();
  });

  test("waits for a server that is away for ten minutes, says so once, and takes messages as soon as it is back", async () => {
    const { clock, made, lines, server, held, consumer, last } = open();
    await consumer.start();
    server.isThere = false;
    await clock.advance(600_000);
    expect(made).toHaveLength(1);
    expect(lines.filter((line) => line.includes("does not answer"))).toHaveLength(1);
    expect(consumer.silentMs()).toBe(600_000);
    server.isThere = true;
    await clock.advance(2_000);
    expect(made).toHaveLength(2);
    const delivered = last().deliver();
    await clock.advance(0);
    expect(held).toHaveLength(1);
    held[0]?.();
    await delivered;
    await consumer.stop();
  });

  test("without a free place asks for nothing, and is not taken for silent; what it handles outlives its worker", async () => {
    const { clock, made, held, consumer, last } = open();
    await consumer.start();
    const first = last();
    const delivered = Array.from({ length: 4 }, () => first.deliver());
    await clock.advance(120_000);
    expect([made.length, consumer.silentMs()]).toEqual([1, 0]);
    held[0]?.();
    await delivered[0];
    await clock.advance(SILENT_MS + 4_000);
    expect([made.length, first.isClosed]).toEqual([2, true]);
    for (const release of held) release();
    await Promise.all(delivered);
    await consumer.stop();
  });
});
