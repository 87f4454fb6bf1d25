// The testkit as a test file uses it: what is made here is taken away by vitest's own hooks.
import { TestRunner, afterAll, onTestFinished } from "vitest";
import { findChromium, startChromium, type Browser } from "./browser/chromium.ts";
import { type TestDatabase, createTestDatabase } from "./database/test-database.ts";
import { type MillraceProcess, type ProcessOptions, spawnMillrace } from "./process/millrace-process.ts";
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

/**
 * Call it at the top of a test file; closed after the last test. Undefined on a machine where no Chromium can be had: then
 * the tests that need it are to be skipped.
 */
export async function testBrowser(): Promise<Browser | undefined> {
  const program = await findChromium((line) => process.stderr.write(`testkit: ${line}\n`));
  if (program === undefined) return undefined;
  const browser = await startChromium(program);
  afterAll(() => browser.close());
  return browser;
}

const shared = new Set<MillraceProcess>();

/**
 * Starts a real `millrace <args>` from source. Started in a test it is killed after that test, started in a
 * beforeAll after the file; and the test fails if a process that it started itself is still there then.
 */
export function startProcess(options: ProcessOptions): MillraceProcess {
  const started = spawnMillrace(options);
  if (TestRunner.getCurrentTest() === undefined) shared.add(started);
  else onTestFinished(() => started.dispose());
  return started;
}

// Registered while the file is collected: within a beforeAll it would be too late.
afterAll(async () => {
  const results = await Promise.allSettled([...shared].map((started) => started.dispose()));
  for (const result of results) if (result.status === "rejected") throw result.reason;
});
