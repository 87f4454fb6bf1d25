import { createLogger } from "@millrace/shared/observability";
import { testDatabase, testRedisUrl } from "@millrace/testkit";
import { afterAll, describe, expect, it } from "vitest";
import { openBroker, type AttemptMessage } from "./index.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
const log = createLogger({ level: "silent", name: "test" });

describe.each(["redis", "postgres"])("a message that was taken by a worker which then died, on %s", (kind) => {
  const url = kind === "redis" ? redisUrl : "postgres";
  const open = () => openBroker({ url, prefix: "again", databaseUrl: database.url, log });
  const [dead, alive] = [open(), open()];
  afterAll(async () => {
    await Promise.all([dead.close(), alive.close()]);
  });

  it("reaches another worker when it is sent again", async () => {
    const message: AttemptMessage = { id: "01900000-0000-7000-8000-000000000001", epoch: 2 };
    let release: () => void = () => undefined;
    const held = new Promise<void>((resolve) => (release = resolve));
    const first = await new Promise<ReturnType<typeof dead.consume>>((resolve) => {
      const consumer = dead.consume({ queues: ["q"], concurrency: 1, handle: () => (resolve(consumer), held) });
      void consumer.start().then(() => dead.send("q", [message]));
    });
    const second = await new Promise<{ taken: AttemptMessage; consumer: ReturnType<typeof alive.consume> }>(
      (resolve) => {
        const consumer = alive.consume({
          queues: ["q"],
          concurrency: 1,
          handle: (taken) => Promise.resolve(resolve({ taken, consumer })),
        });
        void consumer.start().then(() => alive.send("q", [message], { again: true }));
      },
    );
    expect(second.taken).toEqual(message);
    release();
    await Promise.all([first.stop(), second.consumer.stop()]);
  });
});
