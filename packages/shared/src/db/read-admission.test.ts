// What the critical section reads, put through the decision that it feeds.
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, describe, expect, test } from "vitest";
import { admit } from "../model/index.ts";
import { openDatabase, seedDag, seedRun, seedTask } from "./fixtures/seed.ts";
import { readAdmission } from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url, { maxConnections: 1 });
afterAll(() => db.close());
beforeEach(() => database.reset());

async function read(parallelism = 100, limit = 100, candidates = 10_000) {
  const [snapshot] = await db.run(readAdmission, [parallelism, limit, candidates]);
  if (snapshot === undefined) throw new Error("no snapshot");
  const { admitted } = admit({ parallelism, ...snapshot, limitsOf: ({ maxActiveTasks }) => ({ maxActiveTasks }) });
  return { ...snapshot, admitted: admitted.map((c) => `${c.dagId}.${c.taskId}`) };
}

const pool = (name: string, slots: number, includeDeferred = false) =>
  db.read("insert into slot_pool (pool, slots, include_deferred) values ($1, $2, $3)", [name, slots, includeDeferred]);

/** Many task instances of one run at once: `count` named t1, t2, … */
const many = (run: number, count: number, columns: string, values: string) =>
  db.read(
    `insert into task_instance (id, dag_run_id, dag_id, run_id, run_after, task_id, state${columns})
     select gen_random_uuid(), r.id, r.dag_id, r.run_id, r.run_after, 't' || i, 'scheduled'${values}
     from dag_run r, generate_series(1, $2::int) i where r.id = $1`,
    [run, count],
  );

describe("what may be queued", () => {
  test("is all that is scheduled, by priority, when every limit has room", async () => {
    const run = await seedRun(db, await seedDag(db, "dag"), "r");
    await seedTask(db, run, "low", { state: "scheduled", priority_weight: 1 });
    await seedTask(db, run, "high", { state: "scheduled", priority_weight: 9 });
    await seedTask(db, run, "waiting");
    const { admitted, candidates } = await read();
    expect(admitted).toEqual(["dag.high", "dag.low"]);
    expect(candidates[0]).toMatchObject({
      epoch: 5,
      pool: "default_pool",
      poolSlots: 1,
      queue: "default",
      logicalDate: null,
      maxActiveTasks: 16,
      runAfter: Date.UTC(2026, 0, 1),
    });
  });

  test("of one DAG is not held up by five hundred of another that is full", async () => {
    const full = await seedRun(db, await seedDag(db, "full", {}, { maxActiveTasks: 1 }), "r");
    await many(full, 500, ", priority_weight", ", 100");
    const free = await seedRun(db, await seedDag(db, "free"), "r");
    await many(free, 2, "", "");
    expect((await read(64, 32)).admitted.toSorted()).toEqual(["free.t1", "free.t2", expect.stringMatching(/^full\./)]);
    await seedTask(db, full, "busy", { state: "running" });
    const { admitted, candidates } = await read(64, 32);
    expect([admitted.toSorted(), candidates.length]).toEqual([["free.t1", "free.t2"], 2]);
  });

  test("counts slots and not task instances: a lane of bigger tasks passes by when they do not fit", async () => {
    await pool("small", 6);
    const run = await seedRun(db, await seedDag(db, "dag"), "r");
    const big = { pool: "small", pool_slots: 3, lane: "slots 3", state: "scheduled" } as const;
    for (const [n, id] of ["big1", "big2", "big3", "big4"].entries())
      await seedTask(db, run, id, { ...big, priority_weight: 9 - n });
    expect((await read()).admitted).toEqual(["dag.big1", "dag.big2"]);
    await seedTask(db, run, "busy", { pool: "small", pool_slots: 4, state: "queued" });
    await seedTask(db, run, "little", { pool: "small", state: "scheduled" });
    expect((await read()).admitted).toEqual(["dag.little"]);
  });

  test("counts deferred task instances only where the pool says so", async () => {
    await pool("counts", 2, true);
    await pool("ignores", 2);
    const run = await seedRun(db, await seedDag(db, "dag"), "r");
    for (const name of ["counts", "ignores"]) {
      await seedTask(db, run, `${name}_deferred`, { pool: name, pool_slots: 2, state: "deferred" });
      await seedTask(db, run, name, { pool: name, state: "scheduled" });
    }
    expect((await read(1)).admitted).toEqual(["dag.ignores"]);
  });

  test.each(["queued", "running", "restarting", "shutdown"] as const)(
    "counts what is %s as occupying",
    async (state) => {
      await pool("one", 1);
      const run = await seedRun(db, await seedDag(db, "dag"), "r");
      await seedTask(db, run, "busy", { pool: "one", state });
      await seedTask(db, run, "next", { pool: "one", state: "scheduled" });
      expect((await read()).admitted).toEqual([]);
    },
  );

  test("is without limit in a pool of -1, nothing in one of 0, and nothing in one that does not exist", async () => {
    await pool("endless", -1);
    await pool("shut", 0);
    const run = await seedRun(db, await seedDag(db, "dag", {}, { maxActiveTasks: 300 }), "r");
    await many(run, 200, ", pool", ", 'endless'");
    await seedTask(db, run, "shut", { pool: "shut", state: "scheduled" });
    await seedTask(db, run, "lost", { pool: "gone", state: "scheduled" });
    expect((await read(1_000, 1_000)).admitted).toHaveLength(200);
  });

  test("is never more than parallelism has left, and nothing is read when that is nothing", async () => {
    const run = await seedRun(db, await seedDag(db, "dag"), "r");
    await many(run, 10, "", "");
    await seedTask(db, run, "busy", { state: "running" });
    expect((await read(4)).admitted).toHaveLength(3);
    const none = await read(1);
    expect([none.admitted, none.candidates]).toEqual([[], []]);
    expect((await read(100, 2)).candidates).toHaveLength(2);
  });

  test("is counted over all runs of a DAG against max_active_tasks", async () => {
    const dag = await seedDag(db, "dag", {}, { maxActiveTasks: 3 });
    const [one, two] = [await seedRun(db, dag, "r1"), await seedRun(db, dag, "r2")];
    await seedTask(db, one, "busy1", { state: "running" });
    await seedTask(db, two, "busy2", { state: "queued" });
    await many(one, 5, "", "");
    await many(two, 5, "", "");
    expect((await read()).admitted).toHaveLength(1);
  });

  test("is of paused DAGs as of others: a pause keeps runs from starting, not their tasks", async () => {
    const paused = await seedRun(db, await seedDag(db, "paused"), "r");
    const other = await seedRun(db, await seedDag(db, "other"), "r");
    await seedTask(db, paused, "a", { state: "scheduled", priority_weight: 9 });
    await seedTask(db, other, "a", { state: "scheduled" });
    await db.read("update dag set is_paused = true where dag_id = 'paused'");
    expect((await read()).admitted).toEqual(["paused.a", "other.a"]);
  });

  test("shows the head of every lane, so that one task's own limit does not hide another's work", async () => {
    const run = await seedRun(db, await seedDag(db, "dag"), "r");
    await many(run, 50, ", lane, priority_weight", ", 'task limited', 9");
    await seedTask(db, run, "free", { state: "scheduled" });
    const { candidates } = await read(100, 100);
    expect(candidates.map((c) => c.taskId)).toContain("free");
  });
});

interface Plan {
  readonly "Node Type": string;
  readonly "Relation Name"?: string;
  readonly "Actual Rows": number;
  readonly Plans?: readonly Plan[];
}

const nodes = (plan: Plan): Plan[] => [plan, ...(plan.Plans ?? []).flatMap(nodes)];

test("ten thousand blocked task instances of a full pool cost no look at each of them", async () => {
  await pool("full", 1);
  const dag = await seedDag(db, "dag", {}, { maxActiveTasks: 1_000 });
  const run = await seedRun(db, dag, "r");
  await many(run, 10_000, ", pool, priority_weight", ", 'full', 100");
  const done = await seedRun(db, dag, "old");
  await db.read(
    `insert into task_instance (id, dag_run_id, dag_id, run_id, run_after, task_id, state)
     select gen_random_uuid(), $1, 'dag', 'old', now(), 'd' || i, 'success' from generate_series(1, 10000) i`,
    [done],
  );
  await seedTask(db, run, "busy", { pool: "full", state: "running" });
  await seedTask(db, run, "free", { state: "scheduled" });
  await db.read("vacuum analyze task_instance");

  expect((await read()).candidates.map((c) => c.taskId)).toEqual(["free"]);
  const sql = readAdmission.sql.replaceAll("$1", "100").replaceAll("$2", "100").replaceAll("$3", "10000");
  const [explained] = await db.read<{ "QUERY PLAN": { Plan: Plan }[] }>(`explain (analyze, format json) ${sql}`);
  const plan = nodes(explained?.["QUERY PLAN"][0]?.Plan as Plan);
  const onTasks = plan.filter((node) => node["Relation Name"] === "task_instance");
  expect(onTasks.length).toBeGreaterThan(2);
  expect(onTasks.filter((node) => node["Node Type"] === "Seq Scan")).toEqual([]);
  for (const node of onTasks) expect(node["Actual Rows"]).toBeLessThan(10);
});
