import { Redis } from "ioredis";
import { expect, test } from "vitest";
import { createRedisDatabase } from "./redis-database.ts";

test("two Redis databases do not see each other's keys, and a dropped one is empty", async () => {
  const [one, other] = [await createRedisDatabase(), await createRedisDatabase()];
  expect(one.url).not.toBe(other.url);
  const [first, second] = [new Redis(one.url), new Redis(other.url)];
  await first.set("key", "value");
  expect(await second.get("key")).toBeNull();
  await one.drop();
  expect(await first.exists("key")).toBe(0);
  await Promise.all([first.quit(), second.quit()]);
});
