import { createServer, type AddressInfo } from "node:net";
import { testRedisUrl } from "@millrace/testkit";
import { describe, expect, onTestFinished, test } from "vitest";
import { createLogger } from "../observability/index.ts";
import { openBroker } from "./index.ts";

const redisUrl = await testRedisUrl();
const log = createLogger({ level: "silent", name: "test" });

describe("a check of the broker", () => {
  /** Speaks just enough of Redis's protocol to be asked for its memory policy. */
  async function redisThatSays(policy: string): Promise<string> {
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
    return `redis://:hush@127.0.0.1:${(server.address() as AddressInfo).port}`;
  }

  const checkOf = (url: string) => {
    const broker = openBroker({ url, prefix: "check", databaseUrl: "postgres://u:hush@127.0.0.1:1/x", log });
    onTestFinished(() => broker.close());
    return broker.check();
  };

  test("is content with the servers that are there", async () => {
    await checkOf(redisUrl);
  });

  test.each(["allkeys-lru", "volatile-ttl"])("refuses a Redis that may throw work away: %s", async (policy) => {
    const url = await redisThatSays(policy);
    await expect(checkOf(url)).rejects.toMatchObject({ code: "BROKER_EVICTS", values: { policy } });
  });

  test("accepts one that says that it does not", async () => {
    await checkOf(await redisThatSays("noeviction"));
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
