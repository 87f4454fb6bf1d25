import {
  openProxyTo,
  testDatabase,
  testRedisUrl,
  waitUntil,
  type MillraceProcess,
  type TcpProxy,
} from "@millrace/testkit";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
let fleet: Fleet;
let postgresLink: TcpProxy;
let redisLink: TcpProxy;
let processes: MillraceProcess[];

beforeAll(async () => {
  const [postgres, redis] = await Promise.all([openProxyTo(database.url), openProxyTo(redisUrl)]);
  postgresLink = postgres;
  redisLink = redis;
  fleet = await openFleet(database, redis.url, database.url, {
    MILLRACE__DATABASE__URL: postgres.url,
    MILLRACE__CORE__DAGS_FOLDER: new URL("./dags", import.meta.url).pathname,
  });
  await fleet.start(["dag-processor"]);
  await waitUntil(async () => (await fleet.query("select from dag")).length > 0, {
    what: "the DAGs are read",
    timeoutMs: 30_000,
  });
  processes = await Promise.all([fleet.start(["scheduler"]), fleet.start(["worker", "--queues", "default,heavy"])]);
}, 120_000);

afterAll(async () => {
  await fleet.close();
  await postgresLink.close();
  await redisLink.close();
});

async function startedOnce(runId: string): Promise<void> {
  const starts = await fleet.query<{ task_id: string; n: number }>(
    `select ti.task_id, count(*)::int as n from task_instance_transition l join task_instance ti using (row_id)
     where ti.run_id = $1 and l.to_state = 'running' group by ti.task_id order by 1`,
    [runId],
  );
  expect(starts).toEqual([
    { task_id: "heavy", n: 1 },
    { task_id: "last", n: 1 },
    { task_id: "light", n: 1 },
  ]);
}

describe("a link that goes down and comes back", { timeout: 120_000 }, () => {
  const trigger = async (runId: string) => await fleet.command(["dags", "trigger", "queues", "-r", runId]);

  it("Redis away and emptied: what is queued runs once, by itself, after it is back", async () => {
    await trigger("before");
    await fleet.ended("queues", "before");
    redisLink.cut();
    // The trigger reaches Postgres; its wake is lost, and what the scheduler queues cannot be sent.
    const created = trigger("during").catch(() => undefined);
    await waitUntil(
      async () =>
        (await fleet.query("select from task_instance where run_id = 'during' and state = 'queued'")).length > 0,
      {
        what: "the first task is queued though Redis is away",
        timeoutMs: 30_000,
      },
    );
    const redis = new Redis(redisUrl);
    await redis.flushdb();
    redis.disconnect();
    redisLink.heal();
    await created;
    expect((await fleet.ended("queues", "during", 30_000)).state).toBe("success");
    await startedOnce("during");
  });

  it("Postgres away: nobody exits, and the run goes on", async () => {
    await trigger("postgres");
    postgresLink.cut();
    const heard = processes.map((process) => process.waitForLine(/ECONNRE|could not|failed|lost/, 20_000));
    await Promise.all(heard);
    postgresLink.heal();
    expect((await fleet.ended("queues", "postgres", 60_000)).state).toBe("success");
    await startedOnce("postgres");
    expect(await Promise.race([...processes.map((process) => process.exited), Promise.resolve("running")])).toBe(
      "running",
    );
  });
});

describe("a service that is not there at the start", { timeout: 60_000 }, () => {
  it.each([
    [
      "Postgres",
      { MILLRACE__DATABASE__URL: "postgres://nobody:secret@127.0.0.1:1/none" },
      /Cannot reach Postgres at .*127\.0\.0\.1:1/,
    ],
    [
      "Redis",
      { MILLRACE__BROKER__URL: "redis://127.0.0.1:1/0" },
      /Cannot reach the broker at redis:\/\/127\.0\.0\.1:1/,
    ],
  ])("%s: one clear message, without the password", async (_name, env, expected) => {
    const failed = await fleet.attempt(["scheduler"], env);
    expect(failed.code).toBe(3);
    const said = failed.lines.join("\n");
    expect(said).toMatch(expected);
    expect(said).not.toContain("secret");
    expect(said).not.toMatch(/^\s+at /m);
  });

  it("a wrong configuration: every problem at once", async () => {
    const failed = await fleet.attempt(["worker"], {
      MILLRACE__CORE__PARALLELISM: "many",
      MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_SEC: "30",
      MILLRACE__SCHEDULER__NO_SUCH_OPTION: "1",
    });
    expect(failed.code).toBe(2);
    const said = failed.lines.join("\n");
    expect(said).toMatch(/PARALLELISM is "many": must be a number/);
    expect(said).toMatch(/heartbeat/);
    expect(said).toMatch(/NO_SUCH_OPTION is not an option/);
  });
});
