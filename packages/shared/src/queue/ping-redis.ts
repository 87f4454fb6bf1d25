import type { ConnectionValue } from "@millrace/sdk/runtime";
import { Redis } from "ioredis";

/** Rejects when a Redis of the user's does not answer in time, or refuses the account. */
export async function pingRedis(connection: ConnectionValue, timeoutMs: number): Promise<void> {
  const { host = "localhost", port = 6379, login, password, connType, extra = {} } = connection;
  const redis = new Redis({
    host,
    port,
    ...(login === undefined ? {} : { username: login }),
    ...(password === undefined ? {} : { password }),
    ...(connType === "rediss" || extra["ssl"] === true ? { tls: {} } : {}),
    lazyConnect: true,
    connectTimeout: timeoutMs,
    commandTimeout: timeoutMs,
    maxRetriesPerRequest: 0,
    retryStrategy: () => null,
  });
  // Told through the promises below as well.
  redis.on("error", () => undefined);
  try {
    await redis.connect();
    await redis.ping();
  } finally {
    redis.disconnect();
  }
}
