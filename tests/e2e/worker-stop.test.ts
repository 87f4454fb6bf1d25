import { openProxyTo, testDatabase, testRedisUrl, waitUntil } from "@millrace/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const link = await openProxyTo(await testRedisUrl());
let fleet: Fleet;

beforeAll(async () => {
  fleet = await openFleet(database, link.url, database.url, {
    MILLRACE__CORE__DAGS_FOLDER: new URL("./dags", import.meta.url).pathname,
    MILLRACE__WORKERS__GRACEFUL_TIMEOUT: "1",
    // Long enough that nothing is taken for lost while the test looks.
    MILLRACE__SCHEDULER__TASK_INSTANCE_HEARTBEAT_TIMEOUT: "60",
  });
  await fleet.start(["dag-processor"]);
  await waitUntil(async () => (await fleet.query("select from dag where dag_id = 'callbacks_slow'")).length > 0, {
    what: "the DAG is read",
    timeoutMs: 30_000,
  });
  await fleet.start(["scheduler"]);
}, 120_000);

afterAll(async () => {
  await fleet.close();
  await link.close();
});

const running = async (runId: string) =>
  (
    await fleet.query<{ state: string | null; try_number: number; max_tries: number }>(
      "select state, try_number, max_tries from task_instance where run_id = $1 and dag_id = 'callbacks_slow'",
      [runId],
    )
  )[0];

describe("a worker that is told to stop while a task runs for two minutes", { timeout: 60_000 }, () => {
  it.each(["while Redis is there", "while Redis is away"])(
    "hands the task back after its grace, without using a try, and ends with 0: %s",
    async (when) => {
      const worker = await fleet.start(["worker"]);
      const runId = when.replaceAll(" ", "_");
      await fleet.command(["dags", "trigger", "callbacks_slow", "-r", runId]);
      await waitUntil(async () => (await running(runId))?.state === "running", {
        what: "the task runs",
        timeoutMs: 20_000,
      });
      if (when.endsWith("away")) link.cut();
      const told = performance.now();
      worker.kill("SIGTERM");
      expect(await worker.exited).toEqual({ code: 0, signal: null });
      expect(performance.now() - told).toBeLessThan(15_000);
      link.heal();
      const after = await running(runId);
      expect(["up_for_retry", "scheduled", "queued"]).toContain(after?.state);
      // The try that was handed back is not one of those that the task may have.
      expect(after?.max_tries).toBe(1);
      expect(
        await fleet.query(
          `select l.actor from task_instance_transition l join task_instance ti using (row_id)
           where ti.run_id = $1 and l.to_state = 'up_for_retry'`,
          [runId],
        ),
      ).toEqual([{ actor: "millrace worker" }]);
    },
  );
});
