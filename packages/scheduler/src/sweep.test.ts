// What the sweep finds, and how soon.
import { expect, test } from "vitest";
import { installation } from "./fixtures/installation.ts";

const SWEEP_SECONDS = 1;
const TICK_SECONDS = 3;
const on = await installation({
  "scheduler.sweep_interval": SWEEP_SECONDS,
  "scheduler.scheduler_idle_sleep_time": TICK_SECONDS,
  "scheduler.max_dagruns_per_loop_to_schedule": 5,
  "scheduler.task_instance_heartbeat_timeout": 120,
});
const { db, broker, claim, finish, work, seedDag, trigger, startScheduler, count, until } = on;

/** Ends without a word to the scheduler. */
const endSilently = async (id: string) => {
  await db.read(
    "update task_instance set state = 'success', epoch = epoch + 1, end_date = now() where id = $1 and state = 'running'",
    [id],
  );
};
const taskOf = async (id: string) =>
  (await db.read<{ task_id: string }>("select task_id from task_instance where id = $1", [id]))[0]?.task_id;
const latestSeconds = async () =>
  (
    await db.read<{ seconds: number }>(`
      select extract(epoch from max(b.at - a.at))::float8 as seconds
      from task_instance_transition a join task_instance ta on ta.row_id = a.row_id and ta.task_id = 'a' and a.to_state = 'success'
      join task_instance tb on tb.run_id = ta.run_id and tb.task_id = 'b'
      join task_instance_transition b on b.row_id = tb.row_id and b.to_state = 'scheduled'`)
  )[0]?.seconds ?? Infinity;

test("a wake that was lost in a run that is never quiet is found with the sweep", async () => {
  await seedDag("dag", { a: {}, b: { upstream: ["a"] }, noise: {} });
  on.onMessage(async (message) => {
    const taskId = await taskOf(message.id);
    if (taskId === "b") return await work(message);
    await claim(message);
    if (taskId === "a") await endSilently(message.id);
  });
  await startScheduler();
  await trigger("dag");
  const dagRunId = (await db.read<{ id: number }>("select id from dag_run"))[0]?.id ?? 0;
  // Something of the run is told again and again, until what nobody told is found.
  const noise = setInterval(() => broker.wake([{ dagRunId, taskIds: ["noise"] }]), 20);
  await until(
    "what waits for it is done",
    async () => (await count("task_instance where task_id = 'b' and state = 'success'")) === 1,
  );
  clearInterval(noise);
  expect(await latestSeconds()).toBeLessThan(12 * SWEEP_SECONDS);
});

test("more runs than one pass takes are all looked at within the interval", { timeout: 60_000 }, async () => {
  const runs = 30;
  await seedDag("dag", { a: {}, b: { upstream: ["a"] } });
  const held: string[] = [];
  on.onMessage(async (message) => {
    if ((await taskOf(message.id)) !== "a") return await work(message);
    await claim(message);
    held.push(message.id);
  });
  await startScheduler();
  for (let i = 0; i < runs; i++) await trigger("dag");
  await until("all have begun", () => Promise.resolve(held.length === runs));
  await Promise.all(held.map(endSilently));
  await until("all are over", async () => (await count("dag_run where state = 'success'")) === runs);
  // Five with each tick would take eighteen seconds.
  expect(await latestSeconds()).toBeLessThan(12);
});

test("runs that cannot start keep no others from it, however many dags they are of", async () => {
  on.onMessage(async (message) => {
    if (!(await claim(message))) return;
    const [ti] = await db.read<{ run_id: string }>("select run_id from task_instance where id = $1", [message.id]);
    await finish(message, ti?.run_id === "before" ? "failed" : "success");
  });
  await startScheduler();
  for (let i = 0; i < 12; i++) {
    await seedDag(`dag${i}`, { a: { dependsOnPast: true } });
    await trigger(`dag${i}`, "before", new Date("2026-01-01T00:00:00Z"));
  }
  await until("the first have failed", async () => (await count("dag_run where state = 'failed'")) === 12);
  for (let i = 0; i < 12; i++) await trigger(`dag${i}`, "after", new Date("2026-01-02T00:00:00Z"));
  await seedDag("free", { a: {} });
  await trigger("free");
  await until("the other is over", async () => (await count("dag_run where state = 'success'")) === 1);
  expect(await count("dag_run where state = 'queued'")).toBe(12);
});
