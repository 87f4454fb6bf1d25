// The testkit as a test file uses it: what is made here is taken away by vitest's own hooks.
import { afterAll } from "vitest";
import { type TestDatabase, createTestDatabase } from "./database/test-database.ts";
import { createRedisDatabase } from "./redis-database.ts";

/** Call it at the top of a test file (`const db = await testDatabase()`); dropped after the last test. */
export async function testDatabase(): Promise<TestDatabase> {
  const database = await createTestDatabase();
  afterAll(() => database.drop());
  return database;
}

/** Call it at the top of a test file; emptied after the last test. */
export async function testRedisUrl(): Promise<string> {
  const { url, drop } = await createRedisDatabase();
  afterAll(() => drop());
  return url;
}
