import { createLogger } from "@millrace/shared/observability";
import { testDatabase, testRedisUrl } from "@millrace/testkit";
import { expect, it } from "vitest";
import { openBroker } from "./index.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
const log = createLogger({ level: "silent", name: "test" });

it.each(["redis", "postgres"])("what a short-lived process says before it closes arrives, on %s", async (kind) => {
  const open = () =>
    openBroker({ url: kind === "redis" ? redisUrl : "postgres", prefix: "words", databaseUrl: database.url, log });
  const worker = open();
  const heard = new Promise<readonly string[]>((resolve) => void worker.onSignal(resolve).then(say));
  async function say(): Promise<void> {
    // As a command does it: opened, said and closed at once.
    const command = open();
    command.signalAttempts(["a"]);
    command.wake([{ dagRunId: 7, taskIds: null }]);
    await command.close();
  }
  expect(await heard).toEqual(["a"]);
  expect(await worker.takeWakes(2_000)).toEqual([{ dagRunId: 7, taskIds: null }]);
  await worker.close();
});
