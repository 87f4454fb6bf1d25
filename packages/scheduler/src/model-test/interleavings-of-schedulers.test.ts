// Schedulers against each other, and against workers, in every order: what one of them finds is handled by one of them.
import { adoptOrphans, claimAttempts, heartbeatAttempts, newId } from "@millrace/shared/db";
import { expect, test, vi } from "vitest";
import { queueScheduledTasks } from "../critical-section/queue-scheduled-tasks.ts";
import { handleLostAttempts } from "../recovery/handle-lost-attempts.ts";
import { startQueuedRuns } from "../runs/start-queued-runs.ts";
import { A, act, at, clear, examine, finish, lookAt, openRaces, running, stateOf, type Act } from "./fixtures/races.ts";
import { rowOf } from "./fixtures/small-dag.ts";

vi.setConfig({ testTimeout: 180_000 });
const { db, race } = await openRaces();

const B = { runId: "run0", taskId: "b", mapIndex: -1 };
const silent = async () =>
  await db.read("update task_instance set latest_heartbeat = now() - interval '1 h' where state = 'running'");
const sweep: Act<number> = async (on, product) => (await act(on, product, handleLostAttempts)).length;

test("of two sweeps one handles a lost attempt, and the log names it once", async () => {
  await race({
    tasks: { a: { retries: 1 } },
    arrange: async (product) => {
      await running(product);
      await silent();
    },
    first: sweep,
    second: sweep,
    check: async (product, one, two) => {
      const { state, lostWorkers } = await rowOf(product, "a");
      expect([state, lostWorkers, one + two]).toEqual(["up_for_retry", 1, 1]);
      expect(await db.read("select from log where event = 'heartbeat timeout'")).toHaveLength(1);
      await db.read("truncate log");
    },
  });
});

test("an attempt whose heartbeat comes while it is judged is lost or lives, and its worker is told which", async () => {
  let jobId = 0;
  await race({
    tasks: { a: { retries: 1 } },
    arrange: async (product) => {
      await running(product);
      await silent();
      jobId = Number(
        (await db.read<{ job: number }>("select worker_job_id as job from task_instance where state = 'running'"))[0]
          ?.job,
      );
    },
    first: sweep,
    second: async (on, product) => {
      const id = product.claims.get("dag run0 a")?.at(-1)?.id ?? "";
      await on.transaction(async (tx) => await tx.run(heartbeatAttempts, [[id], jobId]));
      // The next one is after everything that the first may have missed.
      return async () => (await db.run(heartbeatAttempts, [[id], jobId])).length;
    },
    check: async (product, lost, ask) => {
      expect(await stateOf(product)).toBe(lost === 1 ? "up_for_retry" : "running");
      expect(await ask()).toBe(1 - lost);
    },
  });
});

test("an orphan that is adopted while a worker claims it runs, in the try that it was queued in", async () => {
  await race({
    tasks: { a: {} },
    arrange: async (product) => {
      await at()(product);
      await db.read("update task_instance set queued_by_job_id = 999 where state = 'queued'");
    },
    first: async (on) => (await on.transaction(async (tx) => await tx.run(adoptOrphans, [1, 10]))).length,
    second: async (on, product) => {
      const { id, epoch } = [...product.rows.values()][0] ?? { id: "", epoch: 0 };
      return (
        await on.transaction(
          async (tx) => await tx.run(claimAttempts, [[id], [epoch], [newId()], "host", "user", 1, 1]),
        )
      ).length;
    },
    check: async (product, _adopted, claimed) => {
      expect([await stateOf(product), claimed, (await rowOf(product, "a")).tries]).toEqual(["running", 1, 1]);
    },
  });
});

test("of two schedulers that would adopt an orphan one does", async () => {
  const adopt =
    (jobId: number): Act<number> =>
    async (on) =>
      (await on.transaction(async (tx) => await tx.run(adoptOrphans, [jobId, 10]))).length;
  await race({
    tasks: { a: {}, b: {} },
    arrange: async (product) => {
      await at()(product);
      await db.read(
        "insert into job (id, job_type, state) values (101, 'SchedulerJob', 'running'), (102, 'SchedulerJob', 'running') on conflict do nothing",
      );
      await db.read("update task_instance set queued_by_job_id = 999 where state = 'queued'");
    },
    first: adopt(101),
    second: adopt(102),
    check: async (_product, one, two) => {
      expect(one + two).toBe(2);
    },
  });
});

test("two schedulers that close a run give it one verdict", async () => {
  await race({
    tasks: { a: {} },
    arrange: at({ kind: "claim", at: [A] }, { kind: "finish", at: A, state: "success", choice: undefined }),
    first: examine("a", false),
    second: examine("a", false),
    check: async () => {
      expect(await db.read("select from dag_run_transition where to_state = 'success'")).toHaveLength(1);
    },
  });
});

test("a run of which the last two tasks end at once is closed by one of those who are told, and only then", async () => {
  await race({
    tasks: { a: {}, b: {} },
    arrange: at({ kind: "claim", at: [A, B] }),
    first: examine("a", true),
    second: examine("b", true),
    check: async () => {
      expect(await db.read("select from dag_run_transition where to_state = 'success'")).toHaveLength(1);
      expect(await db.read("select from task_instance where state = 'success'")).toHaveLength(2);
    },
  });
});

test("a run that closes while its last task still writes its end waits for it", async () => {
  await race({
    tasks: { a: {}, b: {} },
    arrange: at({ kind: "claim", at: [A, B] }, { kind: "finish", at: B, state: "success", choice: undefined }),
    first: finish,
    second: examine("b", false),
    check: async (product, finished) => {
      expect(finished).toBe(1);
      // The end wakes a scheduler, as every end does.
      await product.transact(lookAt(product, "a"));
      expect(await db.read("select state from dag_run")).toEqual([{ state: "success" }]);
    },
  });
});

test("a clear takes back what the critical section queues at that moment, or comes before it", async () => {
  await race({
    tasks: { a: {} },
    arrange: async (product) => {
      await product.transact(startQueuedRuns);
    },
    first: async (on, product) => await act(on, product, async (deps) => await queueScheduledTasks(deps, 1)),
    second: clear,
    check: async (product) => {
      expect(await stateOf(product)).toBe("none");
    },
  });
});
