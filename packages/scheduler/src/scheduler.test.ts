// What comes of several schedulers, limits and workers together. Limits are asked for along the log of transitions: a place
// is written as taken after it was written as free, so its order is that of the changes.
import { clearTasks, explainRun, markRun, markTasks } from "@millrace/shared/db";
import { announce } from "@millrace/shared/queue";
import { describe, expect, test } from "vitest";
import { installation } from "./fixtures/installation.ts";

const on = await installation({
  "scheduler.task_redispatch_after": 0.3,
  "scheduler.max_dagruns_per_loop_to_schedule": 20,
});
const { db, versions, config, broker, claim, finish, work, seedDag, trigger, startScheduler, count, until } = on;

const done = async (dagId: string, runs: number) =>
  await until(
    `${runs} runs of ${dagId} are over`,
    async () => (await count("dag_run where dag_id = $1 and state in ('success', 'failed')", [dagId])) >= runs,
  );
const stateOf = async (runId: string) =>
  (await db.read<{ state: string }>("select state from dag_run where run_id = $1", [runId]))[0]?.state;
/** The most that was in a state at once, by the log. */
const most = async (sql: string): Promise<number> => {
  let now = 0;
  let highest = 0;
  for (const { change } of await db.read<{ change: number }>(sql)) highest = Math.max(highest, (now += change));
  return highest;
};

describe("a message", () => {
  test("that is lost is sent again, and its task runs once", async () => {
    await seedDag("dag", { a: {} });
    let lost = 0;
    on.onMessage(async (message, again) => {
      if (again) return await work(message);
      lost++;
    });
    await startScheduler();
    await startScheduler();
    await trigger("dag");
    await done("dag", 1);
    expect(lost).toBe(1);
    expect(await db.read("select state, try_number from task_instance")).toEqual([{ state: "success", try_number: 1 }]);
    expect(await count("task_instance_transition where to_state = 'running'")).toBe(1);
  });

  test("that comes twice while its task runs is claimed once", async () => {
    await seedDag("dag", { a: {} });
    const claims: boolean[] = [];
    on.onMessage(async (message) => {
      claims.push(...(await Promise.all([claim(message), claim(message)])), await claim(message));
      await finish(message);
      claims.push(await claim(message));
    });
    await startScheduler();
    await trigger("dag");
    await done("dag", 1);
    expect(claims.filter(Boolean)).toHaveLength(1);
    expect(claims).toHaveLength(4);
  });
});

test("slots of a pool are never exceeded by two schedulers, whatever their tasks weigh", async () => {
  await db.read("insert into slot_pool (pool, slots) values ('six', 6)");
  const heavy = Object.fromEntries(
    Array.from({ length: 12 }, (_, i) => [`t${i}`, { pool: "six", poolSlots: 1 + (i % 3) }]),
  );
  await seedDag("dag", heavy);
  on.onMessage(work);
  await startScheduler();
  await startScheduler();
  for (let i = 0; i < 8; i++) await trigger("dag");
  await done("dag", 8);
  const used = await most(`
    select case when x.to_state = 'queued' then 1 else -1 end * ti.pool_slots as change
    from task_instance_transition x join task_instance ti using (row_id)
    where x.to_state in ('queued', 'success') order by x.at, x.to_state desc`);
  expect(used).toBeLessThanOrEqual(6);
  expect(used).toBeGreaterThan(3);
});

test("a DAG with one place and 500 ready tasks keeps no other DAG waiting", async () => {
  await seedDag(
    "capped",
    Object.fromEntries(Array.from({ length: 500 }, (_, i) => [`t${i}`, { priorityWeight: 100 }])),
    {
      maxActiveTasks: 1,
    },
  );
  await seedDag("other", { a: {}, b: {} });
  on.onMessage(work);
  await startScheduler();
  await trigger("capped");
  await until(
    "the tasks of the capped DAG are scheduled",
    async () => (await count("task_instance where state = 'scheduled'")) > 450,
  );
  await trigger("other");
  await done("other", 1);
  expect(await count("task_instance where dag_id = 'capped' and state = 'scheduled'")).toBeGreaterThan(350);
  expect(await count("task_instance where dag_id = 'capped' and state in ('queued', 'running')")).toBeLessThanOrEqual(
    1,
  );
});

test("of two DAGs with 500 queued runs and four places each, both go on", { timeout: 60_000 }, async () => {
  for (const dagId of ["first", "second"]) {
    await seedDag(dagId, { a: {} }, { maxActiveRuns: 4 });
    for (let i = 0; i < 500; i++) await trigger(dagId);
  }
  on.onMessage(work);
  await startScheduler();
  await until("forty runs are over", async () => (await count("dag_run where state = 'success'")) >= 40);
  for (const dagId of ["first", "second"]) {
    expect(await count("dag_run where dag_id = $1 and state = 'success'", [dagId])).toBeGreaterThan(5);
    const running = await most(`
      select case x.to_state when 'running' then 1 else -1 end as change
      from dag_run_transition x join dag_run r on r.id = x.dag_run_id
      where r.dag_id = '${dagId}' and 'running' in (x.from_state, x.to_state) order by x.at`);
    expect(running).toBeLessThanOrEqual(4);
  }
});

test("max_active_runs of one holds while triggers and clears race two schedulers", async () => {
  await seedDag("dag", { a: {}, b: { upstream: ["a"] } }, { maxActiveRuns: 1 });
  on.onMessage(work);
  await startScheduler();
  await startScheduler();
  const runIds = await Promise.all(Array.from({ length: 6 }, async () => await trigger("dag")));
  await until("one run is over", async () => (await count("dag_run where state = 'success'")) > 0);
  const clear = async (runId: string) =>
    announce(broker, await clearTasks(db, versions, { dagId: "dag", runIds: [runId], taskIds: ["b"], user: "ada" }));
  await Promise.all([
    ...runIds.slice(0, 3).map(clear),
    trigger("dag"),
    trigger("dag"),
    ...runIds.slice(0, 2).map(clear),
  ]);
  await until("nothing is left to do", async () => (await count("dag_run where state in ('queued', 'running')")) === 0);
  const running = await most(`
    select case to_state when 'running' then 1 else -1 end as change from dag_run_transition
    where 'running' in (from_state, to_state) order by at, id`);
  expect(running).toBe(1);
  expect(await count("dag_run where state = 'success'")).toBe(8);
});

test("a run that its past blocks holds no place and says why; once the past is put right, both end well", async () => {
  await seedDag("dag", { a: { dependsOnPast: true } }, { maxActiveRuns: 1 });
  const seen = new Set<string>();
  on.onMessage(async (message) => {
    const isFirst = seen.size === 0;
    seen.add(message.id);
    if (await claim(message)) await finish(message, isFirst ? "failed" : "success");
  });
  await startScheduler();
  await trigger("dag", "before", new Date("2026-01-01T00:00:00Z"));
  await done("dag", 1);
  await trigger("dag", "after", new Date("2026-01-02T00:00:00Z"));
  // Without a date it has no past, and would wait for the one place if the blocked run had it.
  await trigger("dag", "undated", null);
  await done("dag", 2);
  expect(await stateOf("undated")).toBe("success");
  expect(await explainRun(db, versions, config, "dag", "after")).toMatchObject({
    state: "queued",
    conditions: [{ kind: "run_blocked_by_past", runId: "before", tasks: [{ taskId: "a" }] }],
  });
  announce(broker, await clearTasks(db, versions, { dagId: "dag", runIds: ["before"], user: "ada" }));
  await until(
    "both are over",
    async () => (await stateOf("before")) === "success" && (await stateOf("after")) === "success",
  );
});

test("a slot is free again after its task was killed, marked, or lost with its worker", async () => {
  await db.read("insert into slot_pool (pool, slots) values ('one', 1)");
  await seedDag("dag", { a: { pool: "one" } });
  const silent: string[] = [];
  // Nobody works on the first two; the third is claimed, and its worker is never heard of again.
  on.onMessage(async (message) => {
    if (silent.includes(message.id)) return;
    silent.push(message.id);
    if (silent.length === 3) await claim(message);
    if (silent.length > 3) await work(message);
  });
  await startScheduler();
  const mark = async (runId: string, state: string) =>
    announce(
      broker,
      await markTasks(db, versions, { dagId: "dag", runIds: [runId], taskIds: ["a"], state, user: "ada" }),
    );
  const runIds = ["r1", "r2", "r3", "r4"] as const;
  for (const [i, runId] of runIds.entries()) await trigger("dag", runId, new Date(Date.UTC(2026, 0, i + 1)));
  const queued = async (runId: string) =>
    (await count("task_instance where run_id = $1 and state = 'queued'", [runId])) === 1;
  await until("the first has the slot", () => queued("r1"));
  await mark("r1", "failed");
  await until("the second has the slot", () => queued("r2"));
  await mark("r2", "skipped");
  await done("dag", 4);
  expect(await Promise.all(runIds.map(stateOf))).toEqual(["failed", "success", "failed", "success"]);
  expect(await db.read("select state_reason from task_instance where run_id = 'r3'")).toMatchObject([
    { state_reason: expect.stringContaining("worker lost") as unknown },
  ]);
});

test("a task that is cleared three times runs three times more", async () => {
  await seedDag("dag", { a: {} });
  on.onMessage(work);
  await startScheduler();
  await trigger("dag", "r");
  for (let tries = 1; tries <= 4; tries++) {
    await until(
      `try ${tries} is over`,
      async () =>
        (await stateOf("r")) === "success" &&
        (await count("task_instance where state = 'success' and try_number = $1", [tries])) === 1,
    );
    if (tries < 4) announce(broker, await clearTasks(db, versions, { dagId: "dag", runIds: ["r"], user: "ada" }));
  }
  expect(await count("task_instance_transition where to_state = 'running'")).toBe(4);
  expect(await db.read("select try_number, state from task_instance_history order by 1")).toEqual(
    [1, 2, 3].map((tryNumber) => ({ try_number: tryNumber, state: "success" })),
  );
});

test("a run that is marked failed still runs its teardown, and then ends as it was marked", async () => {
  await seedDag("dag", {
    make: { isSetup: true },
    work: { upstream: ["make"], queue: "nobody" },
    clean: { upstream: ["make", "work"], isTeardown: true, triggerRule: "all_done_setup_success" },
  });
  on.onMessage(async (message) => {
    if ((await count("task_instance where id = $1 and task_id <> 'work'", [message.id])) === 1) await work(message);
  });
  await startScheduler();
  await trigger("dag", "r");
  await until(
    "the work is queued",
    async () => (await count("task_instance where state = 'queued' and task_id = 'work'")) === 1,
  );
  announce(broker, await markRun(db, versions, { dagId: "dag", runId: "r", state: "failed", user: "ada" }));
  await done("dag", 1);
  expect(await stateOf("r")).toBe("failed");
  expect(await db.read("select task_id, state from task_instance order by task_id")).toEqual([
    { task_id: "clean", state: "success" },
    { task_id: "make", state: "success" },
    { task_id: "work", state: "skipped" },
  ]);
});
