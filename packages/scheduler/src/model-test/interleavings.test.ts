// Two actors' real statements in every order that Postgres allows: whoever comes first, the other sees it, and nothing is
// done twice, lost, or half done.
import { testDatabase } from "@millrace/testkit";
import {
  claimAttempts,
  clearTasks,
  defineStatement,
  finishAttempts,
  lockRuns,
  markTasks,
  newId,
  type Queryable,
} from "@millrace/shared/db";
import { afterAll, expect, test, vi } from "vitest";
import { queueScheduledTasks } from "../critical-section/queue-scheduled-tasks.ts";
import type { ActorDeps } from "../deps.ts";
import { handleLostAttempts } from "../recovery/handle-lost-attempts.ts";
import { decideExamined, writeExamined } from "../runs/examine-runs.ts";
import { startQueuedRuns } from "../runs/start-queued-runs.ts";
import { complaintsOfLog } from "./fixtures/check-log.ts";
import type { Event } from "./fixtures/events.ts";
import { config, openDatabase, Product, quiet } from "./fixtures/product.ts";
import type { Task } from "./fixtures/reference/world.ts";
import { bringTo, rowOf, seedWorld, smallWorld } from "./fixtures/small-dag.ts";
import { interleave, merges, SteppedDatabase } from "./fixtures/stepping.ts";

/** Orders tried of one race; where there are more, these are drawn evenly from all. */
const AT_MOST = 80;
vi.setConfig({ testTimeout: 180_000 });

const database = await testDatabase();
const db = openDatabase(database.url);
const steppers = [new SteppedDatabase(database.url, "first"), new SteppedDatabase(database.url, "second")] as const;
afterAll(async () => {
  await Promise.all([db, ...steppers].map((one) => one.close()));
});

type Act<T> = (db: SteppedDatabase, product: Product) => Promise<T>;

interface Race<A, B> {
  readonly tasks: Readonly<Record<string, Partial<Task>>>;
  readonly arrange: (product: Product) => Promise<void>;
  readonly first: Act<A>;
  readonly second: Act<B>;
  readonly check: (product: Product, first: A, second: B) => Promise<void>;
}

/** The first order only counts the steps of each. */
async function race<A, B>({ tasks, arrange, first, second, check }: Race<A, B>): Promise<void> {
  const inOrder = async (order: readonly (0 | 1)[]) => {
    await database.reset();
    const product = new Product(db);
    await seedWorld(product, smallWorld(tasks));
    await arrange(product);
    const { results, steps } = await interleave(
      db,
      { db: steppers[0], act: async (on) => await first(on, product) },
      { db: steppers[1], act: async (on) => await second(on, product) },
      order,
    );
    await check(product, ...results);
    expect(await complaintsOfLog(db), `in the order ${order.join("")}`).toEqual([]);
    return steps;
  };
  const [firstSteps, secondSteps] = await inOrder([]);
  const orders = merges(firstSteps, secondSteps, AT_MOST);
  expect(orders.length).toBeGreaterThan(2);
  for (const order of orders) await inOrder(order);
}

const A = { runId: "run0", taskId: "a" };
const act = async <T>(on: SteppedDatabase, product: Product, actor: (deps: ActorDeps) => Promise<T>, limits = config) =>
  await on.transaction(async (tx) => await actor({ tx, versions: product.versions, config: limits, log: quiet }), {
    actor: "scheduler",
  });
const at =
  (...events: Event[]) =>
  async (product: Product): Promise<void> =>
    await bringTo(product, smallWorld({ a: {}, b: {} }), events);
const running = at({ kind: "claim", at: [A] });
const finish: Act<number> = async (on, product) => {
  const claim = product.claims.get("dag run0 a")?.at(-1);
  const write = async (tx: Queryable) =>
    await tx.run(finishAttempts, [[claim?.id ?? ""], [claim?.epoch ?? 0], ["success"], [null], [], [], [], [null]]);
  return (await on.transaction(write)).length;
};
const selection = { dagId: "dag", runIds: ["run0"], taskIds: ["a"], user: "user" };
const clear: Act<unknown> = async (on, product) => await clearTasks(on, product.versions, selection);
const stateOf = async (product: Product, taskId = "a") => (await rowOf(product, taskId)).state;

/** Other work comes first from now on: without it both sections would pick the same. */
const putFirst = defineStatement<readonly [taskIds: readonly string[]], never>({
  name: "put-first",
  sql: "update task_instance set priority_weight = 9 where task_id = any ($1::text[]) and state = 'scheduled'",
});

const twoRoom = { ...config, core: { ...config.core, parallelism: 2 } };
test.each([
  ["a pool", "update slot_pool set slots = 2", config],
  ["a DAG", "update dag set max_active_tasks = 2", config],
  ["all", "select", twoRoom],
])("two critical sections together queue what the limit of %s has room for", async (_whose, limit, limits) => {
  const queue: Act<unknown> = async (on, product) =>
    await act(on, product, async (deps) => await queueScheduledTasks(deps, 1), limits);
  await race({
    tasks: { a: {}, b: {}, c: {}, d: {} },
    arrange: async (product) => {
      await db.read(limit);
      await product.transact(startQueuedRuns);
    },
    first: queue,
    second: async (on, product) => {
      await on.transaction(async (tx) => await tx.run(putFirst, [["c", "d"]]));
      await queue(on, product);
    },
    check: async () => {
      expect(await db.read("select from task_instance where state = 'queued'")).toHaveLength(2);
    },
  });
});

test.each([
  [0, "failed"],
  [1, "up_for_retry"],
])("of the sweep of lost attempts and a late result one wins, with %i retries", async (retries, lost) => {
  await race({
    tasks: { a: { retries } },
    arrange: async (product) => {
      await running(product);
      await db.read("update task_instance set latest_heartbeat = now() - interval '1 h' where state = 'running'");
    },
    first: async (on, product) => await act(on, product, handleLostAttempts),
    second: finish,
    check: async (product, wakes, finished) => {
      const { state, lostWorkers } = await rowOf(product, "a");
      expect([state, wakes.length, finished]).toEqual(finished === 1 ? ["success", 0, 1] : [lost, 1, 0]);
      expect(lostWorkers).toBe(state === "up_for_retry" ? 1 : 0);
    },
  });
});

test("a clear takes back what has finished, or has the worker stopped and its result refused", async () => {
  await race({
    tasks: { a: {} },
    arrange: running,
    first: clear,
    second: finish,
    check: async (product, _cleared, finished) => {
      expect(await stateOf(product)).toBe(finished === 1 ? "none" : "restarting");
    },
  });
});

test("a clear comes before a claim, which gets nothing, or stops what was claimed", async () => {
  await race({
    tasks: { a: {} },
    arrange: at(),
    first: clear,
    second: async (on, product) => {
      const { id, epoch } = [...product.rows.values()][0] ?? { id: "", epoch: 0 };
      return (
        await on.transaction(
          async (tx) => await tx.run(claimAttempts, [[id], [epoch], [newId()], "host", "user", 1, 1]),
        )
      ).length;
    },
    check: async (product, _cleared, claimed) => {
      expect(await stateOf(product)).toBe(claimed === 1 ? "restarting" : "none");
    },
  });
});

test("a mark stands over a result that came first, and has the worker stopped otherwise", async () => {
  await race({
    tasks: { a: {} },
    arrange: running,
    first: async (on, product) => await markTasks(on, product.versions, { ...selection, state: "failed" }),
    second: finish,
    check: async (product, _marked, finished) => {
      expect(await stateOf(product)).toBe(finished === 1 ? "failed" : "shutdown");
    },
  });
});

const examine =
  (taskId: string, isEndedFirst: boolean): Act<void> =>
  async (on, product) => {
    const claim = product.claims.get(`dag run0 ${taskId}`)?.at(-1);
    if (isEndedFirst)
      await on.transaction(
        async (tx) =>
          await tx.run(finishAttempts, [
            [claim?.id ?? ""],
            [claim?.epoch ?? 0],
            ["success"],
            [null],
            [],
            [],
            [],
            [null],
          ]),
      );
    await act(on, product, async (deps) => {
      const locked = await deps.tx.run(lockRuns, [[product.runs.get("dag")?.get("run0") ?? 0]]);
      const targets = locked.map((run) => ({ run, changed: [taskId] }));
      await writeExamined(deps, await decideExamined(deps, targets));
    });
  };

test("two schedulers told of the last two upstreams schedule what waits for both, once", async () => {
  await race({
    tasks: { a: {}, b: {}, c: { upstream: ["a", "b"] } },
    arrange: at({ kind: "claim", at: [A, { runId: "run0", taskId: "b" }] }),
    first: examine("a", true),
    second: examine("b", true),
    check: async (product) => {
      const { state, tries } = await rowOf(product, "c");
      expect([state, tries]).toEqual(["scheduled", 1]);
    },
  });
});

test("a run that closes while something of it is cleared goes on", async () => {
  await race({
    tasks: { a: {} },
    arrange: at({ kind: "claim", at: [A] }, { kind: "finish", at: A, state: "success", choice: undefined }),
    first: examine("a", false),
    second: clear,
    check: async (product) => {
      await product.settle(new Map(), new Set(["dag"]));
      expect([await stateOf(product), product.runStates.get("dag run0")]).toEqual(["queued", "running"]);
    },
  });
});
