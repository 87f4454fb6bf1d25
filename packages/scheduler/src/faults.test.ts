// What schedulers do when something around them fails; the sweep is so slow here that it can be no help.
import { confirmStopped, markRun, newId, retryAttempts } from "@millrace/shared/db";
import { afterEach, expect, test, vi } from "vitest";
import { installation } from "./fixtures/installation.ts";

const on = await installation({
  "scheduler.sweep_interval": 120,
  // Who is slow here is not lost.
  "scheduler.task_instance_heartbeat_timeout": 120,
});
const { db, versions, broker, claim, work, seedDag, trigger, startScheduler, count, until } = on;

const done = async (runs: number) =>
  await until(`${runs} runs are over`, async () => (await count("dag_run where state = 'success'")) >= runs);

test("one connection is enough: a transaction never waits for a second one", async () => {
  await seedDag("dag", { a: { maxActiveTisPerDag: 1 }, b: { upstream: ["a"], dependsOnPast: true } });
  on.onMessage(work);
  await startScheduler(undefined, { maxConnections: 1 });
  for (let i = 0; i < 3; i++) await trigger("dag");
  await done(3);
});

test("a task that ends after its run was marked lets the run go on that waits for it", async () => {
  await seedDag("dag", { a: { dependsOnPast: true }, c: {} });
  let first: string | undefined;
  on.onMessage(async (message) => {
    const [ti] = await db.read<{ task: string; run: string }>(
      "select task_id as task, run_id as run from task_instance where id = $1",
      [message.id],
    );
    if (ti?.run !== "r1" || ti.task !== "a") return await work(message);
    await claim(message);
    first = message.id;
  });
  await startScheduler();
  await trigger("dag", "r1", new Date("2026-01-01T00:00:00Z"));
  await trigger("dag", "r2", new Date("2026-01-02T00:00:00Z"));
  await until(
    "the later run waits for the task before",
    async () =>
      (await count("task_instance where run_id = 'r2' and task_id = 'c' and state = 'success'")) === 1 &&
      first !== undefined,
  );
  await markRun(db, versions, { dagId: "dag", runId: "r1", state: "success", user: "ada" });
  // Its worker has stopped it.
  const [row] = await db.read<{ epoch: number }>("select epoch from task_instance where id = $1", [first]);
  const [stopped] = await db.run(confirmStopped, [[first ?? ""], [row?.epoch ?? 0], [newId()], [0]]);
  expect(stopped?.state).toBe("success");
  broker.wake([{ dagRunId: stopped?.dagRunId ?? 0, taskIds: ["a"] }]);
  await done(2);
});

afterEach(() => void vi.useRealTimers());

test("a scheduler whose clock is an hour fast starts nothing before its time and takes nobody for lost", async () => {
  await seedDag("dag", { a: {} });
  let isFirst = true;
  on.onMessage(async (message) => {
    if (!isFirst) return await work(message);
    isFirst = false;
    await claim(message);
    await db.run(retryAttempts, [[message.id], [message.epoch + 1], [newId()], [1_800], [true], [false], ["later"]]);
  });
  vi.useFakeTimers({ toFake: ["Date"], now: Date.now() + 3_600_000 });
  await startScheduler();
  await trigger("dag", "waits");
  await until("its retry waits", async () => (await count("task_instance where state = 'up_for_retry'")) === 1);
  await trigger("dag", "goes");
  await done(1);
  expect(await db.read("select state, try_number from task_instance where run_id = 'waits'")).toEqual([
    { state: "up_for_retry", try_number: 1 },
  ]);
  expect(await count("dag_run where abs(extract(epoch from start_date - now())) > 60")).toBe(0);
  expect(await count("job where state = 'failed'")).toBe(0);
});

test("a run whose version cannot be read, or that cannot be decided, holds up no other", async () => {
  await seedDag("unreadable", { a: {} });
  await seedDag("undecidable", { a: {}, b: { upstream: ["a"] } });
  await seedDag("dag", { a: {}, b: { upstream: ["a"] } });
  const runs = await Promise.all(["unreadable", "undecidable"].map((dagId) => trigger(dagId)));
  await db.read(`update serialized_dag set data = '{"tasks": 7}' where dag_id = 'unreadable'`);
  // A rule that no decider knows.
  await db.read(
    `update serialized_dag set data = jsonb_set(data, '{tasks,1,triggerRule}', '"nonsense"') where dag_id = 'undecidable'`,
  );
  on.onMessage(work);
  await startScheduler();
  for (let i = 0; i < 3; i++) await trigger("dag");
  await done(3);
  expect(await count("dag_run where run_id = any ($1) and state in ('success', 'failed')", [runs])).toBe(0);
});

test("what belongs to a DAG that only newer processes understand is left to them, and said once", async () => {
  await seedDag("dag", { a: {}, b: { upstream: ["a"] } });
  await seedDag("newer", { b: {}, c: {} });
  const runId = await trigger("newer");
  await db.read(`update serialized_dag set data = data || '{"format": 1000}' where dag_id = 'newer'`);
  await db.read("delete from task_instance where run_id = $1", [runId]);
  await db.read(
    `with r as (update dag_run set state = 'running' where run_id = $1 returning id, dag_id, run_id, created_dag_version_id)
     insert into task_instance (id, dag_run_id, dag_id, run_id, task_id, map_index, state, epoch, try_number, max_tries,
       pool, pool_slots, queue, priority_weight, run_after, dag_version_id)
     select gen_random_uuid(), r.id, r.dag_id, r.run_id, t.task, -1, t.state, 1, 1, 0, 'default_pool', 1, 'default', 1, now(),
       r.created_dag_version_id
     from r, (values ('b', 'scheduled'), ('c', null)) as t (task, state)`,
    [runId],
  );
  on.onMessage(work);
  await startScheduler();
  for (let i = 0; i < 3; i++) await trigger("dag");
  await done(3);
  expect(
    await db.read("select task_id as task, state from task_instance where dag_id = 'newer' order by task_id"),
  ).toEqual([
    { task: "b", state: "scheduled" },
    { task: "c", state: null },
  ]);
});
