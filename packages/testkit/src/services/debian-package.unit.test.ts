import { existsSync } from "node:fs";
import { mkdtemp, readdir, rm } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { Redis } from "ioredis";
import { expect, onTestFinished, test } from "vitest";
import { debianRedis } from "./debian-package.ts";
import { startRedisServer } from "./redis-server.ts";

async function scratchFolder(): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), "debian-redis-"));
  onTestFinished(() => rm(folder, { recursive: true, force: true }));
  return folder;
}

test.runIf(existsSync("/usr/bin/apt-get"))(
  "the distribution's Redis is had once, runs from the cache folder, and leaves nothing else there",
  async () => {
    const cache = await scratchFolder();
    const said: string[] = [];
    await debianRedis((line) => said.push(line), cache);
    const binary = await debianRedis((line) => said.push(line), cache);
    expect(said).toHaveLength(1);
    expect(await readdir(cache)).toHaveLength(1);

    const server = await startRedisServer(
      binary ?? expect.unreachable(),
      ["--databases", "1024"],
      await scratchFolder(),
    );
    const client = new Redis(`${server.url}/1023`);
    expect(await client.ping()).toBe("PONG");
    await client.quit();
    await server.stop();
  },
  240_000,
);
