import { Database } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { startProcess, testDatabase, testRedisUrl } from "@millrace/testkit";
import { describe, expect, test } from "vitest";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
const env = { MILLRACE__DATABASE__URL: database.url, MILLRACE__BROKER__URL: redisUrl };
const NOBODY = "127.0.0.1:1";

/** The same server, but a database that was never migrated. */
async function emptyDatabase(): Promise<{ url: string; drop: () => Promise<void> }> {
  const name = `empty_${process.pid}`;
  const run = async (sql: string) => {
    const log = createLogger({ level: "silent", name: "test" });
    const db = new Database({ url: database.url, applicationName: "test", maxConnections: 1, maxRetries: 0, log });
    await db.read(sql);
    await db.close();
  };
  await run(`create database ${name}`);
  const url = new URL(database.url);
  url.pathname = `/${name}`;
  return { url: url.href, drop: () => run(`drop database ${name} with (force)`) };
}

describe.each(["scheduler", "worker", "triggerer"])("%s", (name) => {
  test.each(["SIGTERM", "SIGINT"] as const)("says when it is ready, and stops cleanly on %s", async (signal) => {
    const started = startProcess({ args: [name], env });
    await started.waitForLine(new RegExp(`^${name} is ready$`));
    started.kill(signal);
    expect(await started.exited).toEqual({ code: 0, signal: null });
    expect(started.lines).toContain(`${name} has stopped`);
  });
});

test("a database that is down ends the start with 3 and one message", async () => {
  const started = startProcess({
    args: ["scheduler"],
    env: { ...env, MILLRACE__DATABASE__URL: `postgres://x:secret@${NOBODY}/x` },
  });
  expect(await started.exited).toEqual({ code: 3, signal: null });
  expect(started.lines.filter((line) => line !== "")).toEqual([
    expect.stringMatching(/^error: Cannot reach Postgres at postgres:\/\/x:\*\*\*@127\.0\.0\.1:1/),
  ]);
});

test("a broker that is down ends the start with 3 and one message", async () => {
  const started = startProcess({
    args: ["worker"],
    env: { ...env, MILLRACE__BROKER__URL: `redis://${NOBODY}/0` },
  });
  expect(await started.exited).toEqual({ code: 3, signal: null });
  expect(started.lines).toEqual([expect.stringMatching(/^error: Cannot reach the broker at redis:\/\/127\.0\.0\.1:1/)]);
});

test("a bad setting ends the start with 2", async () => {
  const started = startProcess({ args: ["scheduler"], env: { ...env, MILLRACE__CORE__PARALLELISM: "0" } });
  expect(await started.exited).toEqual({ code: 2, signal: null });
  expect(started.lines.join("\n")).toContain("MILLRACE__CORE__PARALLELISM");
});

test("an unmigrated database ends the start with 3; with --wait it starts once somebody migrates", async () => {
  const empty = await emptyDatabase();
  const onEmpty = { ...env, MILLRACE__DATABASE__URL: empty.url };
  const refused = startProcess({ args: ["triggerer"], env: onEmpty });
  expect(await refused.exited).toEqual({ code: 3, signal: null });
  expect(refused.lines.join("\n")).toContain("Run `millrace db migrate`");

  const waiting = startProcess({ args: ["triggerer", "--wait", "60"], env: onEmpty });
  await waiting.waitForLine(/^waiting up to 60 s: The database at/);
  const migrate = startProcess({ args: ["db", "migrate"], env: onEmpty });
  expect(await migrate.exited).toEqual({ code: 0, signal: null });
  await waiting.waitForLine(/^triggerer is ready$/);
  waiting.kill("SIGTERM");
  expect(await waiting.exited).toEqual({ code: 0, signal: null });
  await empty.drop();
});

test("a signal while it waits ends it with 0", async () => {
  const started = startProcess({
    args: ["scheduler", "--wait", "600"],
    env: { ...env, MILLRACE__DATABASE__URL: `postgres://x@${NOBODY}/x` },
  });
  await started.waitForLine(/^waiting up to/);
  started.kill("SIGTERM");
  expect(await started.exited).toEqual({ code: 0, signal: null });
});
