import { Redis } from "ioredis";
import { runContext } from "./run-context.ts";

const COUNTER = "millrace:testkit:databases";

/**
 * The URL of an empty Redis database that no other test file of this run uses. Pub/sub does not know databases:
 * a listener also hears the wakes of test files that run at the same time, as it does in production.
 */
export async function createRedisDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const { redisUrl } = runContext();
  const server = new Redis(redisUrl);
  try {
    const [, count] = (await server.config("GET", "databases")) as [string, string];
    // Database 0 keeps the counter. A server of the environment with 16 databases reuses them in turn.
    const number = ((await server.incr(COUNTER)) % (Number(count) - 1)) + 1;
    const url = new URL(redisUrl);
    url.pathname = `/${number}`;
    await flush(url.href);
    return { url: url.href, drop: () => flush(url.href) };
  } finally {
    await server.quit();
  }
}

async function flush(url: string): Promise<void> {
  const client = new Redis(url);
  try {
    await client.flushdb();
  } finally {
    await client.quit();
  }
}
