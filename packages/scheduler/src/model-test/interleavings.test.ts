// Two actors' real statements in every order that Postgres allows: whoever comes first, the other sees it, and nothing is
// done twice, lost, or half done.
import { claimAttempts, defineStatement, markTasks, newId } from "@millrace/shared/db";
import { expect, test, vi } from "vitest";
import { queueScheduledTasks } from "../critical-section/queue-scheduled-tasks.ts";
import { handleLostAttempts } from "../recovery/handle-lost-attempts.ts";
import { startQueuedRuns } from "../runs/start-queued-runs.ts";
import { config } from "./fixtures/product.ts";
import {
  A,
  act,
  at,
  clear,
  examine,
  finish,
  lookAt,
  openRaces,
  running,
  selection,
  stateOf,
  type Act,
} from "./fixtures/races.ts";
import { rowOf } from "./fixtures/small-dag.ts";

vi.setConfig({ testTimeout: 180_000 });
const { db, race } = await openRaces();

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

test("two schedulers told of the last two upstreams schedule what waits for both, once", async () => {
  await race({
    tasks: { a: {}, b: {}, c: { upstream: ["a", "b"] } },
    arrange: at({ kind: "claim", at: [A, { runId: "run0", taskId: "b", mapIndex: -1 }] }),
    first: examine("a", true),
    second: examine("b", true),
    check: async (product) => {
      const { state, tries } = await rowOf(product, "c");
      expect([state, tries]).toEqual(["scheduled", 1]);
    },
  });
});

test("a run that fails fast while another scheduler queues the rest stays open until the rest has ended", async () => {
  await race({
    // What comes after it puts `a` first: `b` has to wait for its place.
    tasks: { a: {}, b: {}, c: { upstream: ["a"] } },
    failFast: true,
    arrange: async (product) => {
      await db.read("update dag set max_active_tasks = 1");
      await at({ kind: "claim", at: [A] }, { kind: "fail", at: A, isRetried: false })(product);
      expect(await stateOf(product, "b")).toBe("scheduled");
    },
    first: async (on, product) => await act(on, product, lookAt(product, null)),
    second: async (on, product) => await act(on, product, async (deps) => await queueScheduledTasks(deps, 1)),
    check: async (product) => {
      const outcome = [await stateOf(product, "b"), product.runStates.get("dag run0")];
      expect([
        // What ran last was skipped: the leaves decide.
        ["skipped", "success"],
        ["queued", "running"],
      ]).toContainEqual(outcome);
      await product.settle(new Map(), new Set(["dag"]));
      expect([await stateOf(product, "b"), product.runStates.get("dag run0")]).toEqual(["skipped", "success"]);
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
