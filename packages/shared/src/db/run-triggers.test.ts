import { testDatabase } from "@millrace/testkit";
import { setImmediate } from "node:timers/promises";
import { afterAll, beforeEach, expect, test, vi } from "vitest";
import { openDatabase, seedDag } from "./fixtures/seed.ts";
import { DagVersions, RunTriggers, type TriggerRequest } from "./index.ts";

const database = await testDatabase();
const db = openDatabase(database.url, { maxConnections: 10 });
afterAll(() => db.close());

let versions: DagVersions;
let triggers: RunTriggers;
beforeEach(async () => {
  await database.reset();
  await seedDag(db, "dag", { a: {}, b: { upstream: ["a"] } });
  versions = new DagVersions(db);
  triggers = new RunTriggers(db, versions);
});

const trigger = (given: Partial<TriggerRequest> = {}) =>
  triggers.trigger({ dagId: "dag", logicalDate: null, triggeredBy: "rest_api", user: "ada", audit: "{}", ...given });

/** Asks for all of them while the transaction of a first one waits, so that they are written together after it. */
async function askTogether(requests: readonly Partial<TriggerRequest>[]) {
  const holder = await db.dedicated();
  // The id of the first, taken in a transaction that is still open.
  await holder.query("begin");
  await holder.query(
    "insert into dag_run (dag_id, run_id, run_type, run_after) values ('dag', 'first', 'manual', now())",
  );
  const load = vi.spyOn(versions, "load");
  const asked = [{ runId: "first" }, ...requests].map((request) =>
    trigger(request).then(
      (run) => run.runId,
      (error: unknown) => error,
    ),
  );
  // Each loads the version of its DAG right before it is written.
  await vi.waitFor(() => expect(load).toHaveBeenCalledTimes(asked.length));
  await Promise.all(load.mock.results.map((result) => result.value as Promise<unknown>));
  await setImmediate();
  await holder.query("rollback");
  await holder.end();
  return (await Promise.all(asked)).slice(1);
}

const countOf = async (what: string): Promise<number> =>
  (await db.read<{ n: number }>(`select count(*)::int as n from ${what}`))[0]?.n ?? NaN;

test("runs that are asked for together are written in one transaction, each with its tasks and its row in the audit log", async () => {
  const ids = await askTogether([{ runId: "x" }, { runId: "y", note: "why" }, { runId: "z", user: null }]);
  expect(ids).toEqual(["x", "y", "z"]);
  const made = "dag_run where run_id in ('x', 'y', 'z')";
  expect(
    await db.read(`select count(distinct xmin::text)::int as transactions, count(*)::int as runs from ${made}`),
  ).toEqual([{ transactions: 1, runs: 3 }]);
  expect(await countOf("task_instance where run_id in ('x', 'y', 'z')")).toBe(6);
  expect(await db.read("select run_id, owner from log where run_id <> 'first' order by run_id")).toEqual([
    { run_id: "x", owner: "ada" },
    { run_id: "y", owner: "ada" },
  ]);
  expect(await db.read("select run_id, content from dag_run_note n join dag_run r on r.id = n.dag_run_id")).toEqual([
    { run_id: "y", content: "why" },
  ]);
});

test("of two for the same id one gets the run, and the other is told that it exists", async () => {
  const confs = [{ n: 1 }, { n: 2 }];
  const [one, other, third] = await askTogether([
    ...confs.map((conf) => ({ runId: "mine", conf })),
    { runId: "another" },
  ]);
  expect(third).toBe("another");
  const [winner, loser] = one === "mine" ? [0, other] : [1, one];
  expect([one, other][winner]).toBe("mine");
  expect(loser).toMatchObject({ code: "RUN_EXISTS" });
  expect(await db.read("select conf from dag_run where run_id = 'mine'")).toEqual([{ conf: confs[winner] }]);
  expect(await countOf("task_instance where run_id = 'mine'")).toBe(2);
  expect(await countOf("log where run_id = 'mine'")).toBe(1);
});

test("one that cannot be stored is refused alone", async () => {
  const [before, refused, after] = await askTogether([
    { runId: "before" },
    { runId: "refused", partitionKey: "x".repeat(251) },
    { runId: "after" },
  ]);
  expect([before, after]).toEqual(["before", "after"]);
  expect(refused).toMatchObject({ code: "22001" });
  expect(await countOf("dag_run where run_id = 'refused'")).toBe(0);
  expect(await db.read("select run_id from log where run_id <> 'first' order by run_id")).toEqual([
    { run_id: "after" },
    { run_id: "before" },
  ]);
});
