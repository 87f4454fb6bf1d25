// A real Redis to which everything happens that can happen to one, while schedulers and consumers work: what is queued
// runs once, and they go on by themselves. Only the tasks take no time.
import { newId } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { openBroker, type Broker } from "@millrace/shared/queue";
import { openProxyTo, openRedis, testRedisUrl } from "@millrace/testkit";
import { expect, onTestFinished, test } from "vitest";
import { installation } from "./fixtures/installation.ts";

const on = await installation({ "scheduler.task_redispatch_after": 1.5 });
const { db, database, claim, work, seedDag, trigger, startScheduler, count, until } = on;
const redisUrl = await testRedisUrl();
const log = createLogger({ level: "silent", name: "test" });
const TASKS = { a: {}, b: { upstream: ["a"] }, c: { upstream: ["b"] } };

/** Two schedulers and two consumers, each with doors of its own, over a link that can be cut. */
async function start() {
  const prefix = `faults_${newId()}`;
  const link = await openProxyTo(redisUrl);
  const brokers: Broker[] = [];
  const open = () => {
    const broker = openBroker({ url: link.url, prefix, databaseUrl: database.url, log });
    brokers.push(broker);
    return broker;
  };
  const consumers = [open(), open()].map((broker) =>
    broker.consume({ queues: ["default"], concurrency: 4, handle: async (message) => await work(message) }),
  );
  await Promise.all(consumers.map((consumer) => consumer.start()));
  await startScheduler(open());
  await startScheduler(open());
  const admin = openRedis(redisUrl);
  onTestFinished(async () => {
    link.heal();
    await Promise.all(consumers.map((consumer) => consumer.stop()));
    // The schedulers are stopped after it, and may still want to say something.
    admin.disconnect();
  });
  on.afterStop(async () => {
    await Promise.all(brokers.map((broker) => broker.close()));
    await link.close();
  });
  const emptied = async () => {
    const keys = await admin.keys(`${prefix}:*`);
    if (keys.length > 0) await admin.del(keys);
  };
  return { link, admin, prefix, emptied, open };
}

async function allRunOnce(runs: number): Promise<void> {
  await until(`${runs} runs are over`, async () => (await count("dag_run where state = 'success'")) === runs, 60_000);
  expect(await count("task_instance_transition where to_state = 'running'")).toBe(runs * 3);
  expect(
    await count("(select from task_instance_transition where to_state = 'running' group by ti_id having count(*) > 1)"),
  ).toBe(0);
  expect(await count("task_instance where try_number <> 1")).toBe(0);
}

test(
  "emptied again and again, with keys that vanish at random: all that was queued runs once",
  { timeout: 90_000 },
  async () => {
    await seedDag("dag", TASKS);
    const { admin, prefix, emptied } = await start();
    const runs = 25;
    let seed = 7;
    const random = () => (seed = (seed * 48_271) % 2_147_483_647) / 2_147_483_647;
    for (let i = 0; i < runs; i++) {
      await trigger("dag");
      if (i % 8 === 3) await emptied();
      const keys = await admin.keys(`${prefix}:*`);
      for (const key of keys) if (random() < 0.3) await admin.del(key);
    }
    await allRunOnce(runs);
  },
);

test.each(["cut", "swallow"] as const)(
  "away for three seconds and empty when it is back (%s): work goes on by itself",
  { timeout: 90_000 },
  async (how) => {
    await seedDag("dag", TASKS);
    const { link, emptied } = await start();
    await trigger("dag");
    await until("it works", async () => (await count("dag_run where state = 'success'")) === 1);
    link[how]();
    for (let i = 0; i < 5; i++) await trigger("dag");
    const away = new Promise((resolve) => setTimeout(resolve, 3_000));
    await until("what can be queued is", async () => (await count("task_instance where state = 'queued'")) === 5);
    await away;
    await emptied();
    link.heal();
    await allRunOnce(6);
  },
);

test("messages that come twice, name nobody, or are no messages at all stop nothing", { timeout: 60_000 }, async () => {
  await seedDag("dag", TASKS);
  const { admin, prefix, open } = await start();
  const anybody = open();
  await anybody.send("default", [
    { id: newId(), epoch: 2 },
    { id: newId(), epoch: 2 ** 40 },
    { id: "'; drop table task_instance; --", epoch: 1 },
  ]);
  await admin.rpush(`${prefix}:wake`, "no json", "5", '[{"dagRunId":"x"}]', '[{"dagRunId":999999,"taskIds":[7]}]');
  await admin.publish(`${prefix}:signal`, "no json");
  for (let i = 0; i < 5; i++) await trigger("dag");
  await until("some are queued", async () => (await count("task_instance where queued_dttm is not null")) > 0);
  const known = await db.read<{ id: string; epoch: number }>("select id, epoch from task_instance");
  await anybody.send("default", known, { again: true });
  await allRunOnce(5);
  expect(await claim({ id: newId(), epoch: 1 })).toBe(false);
});
