// Tasks that wait, with real processes: every way ends as its author wrote it, whoever ends it from outside takes its
// trigger with it, and what is wrong fails the task with a reason and nothing else.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "@millrace/shared/config";
import {
  answerTask,
  clearTasks,
  DagVersions,
  Database,
  explainTask,
  markRun,
  markTasks,
  triggerRun,
} from "@millrace/shared/db";
import { describeCondition } from "@millrace/shared/model";
import { createLogger } from "@millrace/shared/observability";
import { announce, openBroker, type Announced } from "@millrace/shared/queue";
import { openProxyTo, testDatabase, testRedisUrl, waitUntil, type TcpProxy } from "@millrace/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 3, maxRetries: 3, log });
const versions = new DagVersions(db);
const broker = openBroker({ url: redisUrl, prefix: "millrace", databaseUrl: database.url, log });
const user = "ada";
let link: TcpProxy & { readonly url: string };
let fleet: Fleet;

beforeAll(async () => {
  link = await openProxyTo(redisUrl);
  fleet = await openFleet(database, link.url, database.url, { MILLRACE__SCHEDULER__SCHEDULER_IDLE_SLEEP_TIME: "0.05" });
  await fleet.start(["dag-processor"]);
  await waitUntil(async () => (await fleet.query("select from dag where dag_id like 'waits_%'")).length === 8, {
    what: "every DAG is read",
    timeoutMs: 60_000,
  });
  await fleet.query("update dag set is_paused = true where dag_id not like 'waits_%'");
  await Promise.all([fleet.start(["scheduler"]), fleet.start(["worker"]), fleet.start(["triggerer"])]);
}, 180_000);

afterAll(async () => {
  await fleet.close();
  await link.close();
  await broker.close();
  await db.close();
});

let runs = 0;
const begin = async (dagId: string, logicalDate?: Date): Promise<string> => {
  const runId = `run_${++runs}`;
  const conf = { folder: fleet.folder };
  const run = await triggerRun(db, versions, { dagId, runId, conf, logicalDate, triggeredBy: "cli", user });
  announce(broker, { dagRunIds: [run.id], stopped: [] });
  return runId;
};
const tell = async (change: Promise<Announced>): Promise<void> => announce(broker, await change);
const notes = async (runId: string): Promise<string[]> =>
  (await readFile(join(fleet.folder, `${runId}.notes`), "utf8")).split("\n").filter((line) => line !== "");
const value = async (runId: string, taskId: string): Promise<unknown> =>
  (
    await fleet.query<{ value: unknown }>(
      "select value from xcom where run_id = $1 and task_id = $2 and key = 'return_value'",
      [runId, taskId],
    )
  )[0]?.value;
const isDeferred = async (runId: string): Promise<void> => {
  await waitUntil(
    async () =>
      (await fleet.query("select from task_instance where run_id = $1 and state = 'deferred'", [runId])).length > 0,
    { what: `a task of ${runId} waits`, timeoutMs: 30_000 },
  );
};
const triggers = async (): Promise<number> => (await fleet.query("select from trigger")).length;

describe("a task", { timeout: 90_000 }, () => {
  it("waits in each of the ways there are, and goes on with what came", async () => {
    const runId = await begin("waits_ways");
    expect(await fleet.ended("waits_ways", runId, 60_000)).toMatchObject({
      state: "success",
      tasks: { sum: "success" },
    });
    expect(await value(runId, "own")).toEqual({ n: 2, from: "start", half: "kept", tryNumber: 1 });
    expect(await value(runId, "timed")).toEqual({ at: expect.any(String) as string });
    expect(await value(runId, "late")).toBe("TriggerTimeout");
    expect(await value(runId, "asked")).toMatchObject({ chosen_options: ["b"], timedout: true });
    expect(await fleet.query("select from task_reschedule")).toHaveLength(2);
    const [child] = await fleet.query<{ state: string; run_id: string }>(
      "select state, run_id from dag_run where dag_id = 'waits_child'",
    );
    expect(child?.state).toBe("success");
    expect(await value(child?.run_id ?? "", "echo")).toBe("its parent");
    const path = await fleet.query<{ to: string }>(
      `select x.to_state as to from task_instance_transition x join task_instance ti using (row_id)
       where ti.run_id = $1 and ti.task_id = 'timed' order by x.epoch`,
      [runId],
    );
    // No worker had it.
    expect(path.map(({ to }) => to)).toEqual(["deferred", "success"]);
    expect(await triggers()).toBe(0);
  });

  it("waits for a task of another DAG at the same logical date", async () => {
    const date = new Date("2026-01-01T00:00:00Z");
    const runId = await begin("waits_right", date);
    await isDeferred(runId);
    await begin("waits_left", date);
    expect((await fleet.ended("waits_right", runId)).state).toBe("success");
  });

  it.each(["cleared", "marked", "failed with its run"])(
    "that is %s while it waits is given up by its trigger and ends so",
    async (how) => {
      const runId = await begin("waits_long");
      await isDeferred(runId);
      const about = { dagId: "waits_long", runIds: [runId], user };
      if (how === "cleared") await tell(clearTasks(db, versions, about));
      else if (how === "marked") await tell(markTasks(db, versions, { ...about, state: "success" }));
      else await tell(markRun(db, versions, { ...about, runId, state: "failed" }));
      const state = how === "failed with its run" ? "failed" : "success";
      expect(await fleet.ended("waits_long", runId)).toEqual({ state, tasks: { long: state } });
      expect(await notes(runId)).toEqual(how === "cleared" ? ["start", "start"] : ["start"]);
      expect(await triggers()).toBe(0);
    },
  );

  it("goes on when a person has answered", async () => {
    const runId = await begin("waits_approval");
    await isDeferred(runId);
    const { conditions } = await explainTask(db, versions, loadConfig({ env: {} }), "waits_approval", runId, "gate");
    expect(conditions.map(describeCondition)).toEqual([
      'it waits for an answer to "May it go?": see `millrace hitl list`',
    ]);
    const task = { dagId: "waits_approval", runId, taskId: "gate", mapIndex: -1 };
    const { dagRunIds } = await answerTask(db, { ...task, chosenOptions: ["Approve"], paramsInput: {}, user });
    announce(broker, { dagRunIds, stopped: [] });
    expect(await fleet.ended("waits_approval", runId)).toEqual({
      state: "success",
      tasks: { gate: "success", go: "success" },
    });
  });

  it("that waits wrongly fails with a reason, and the triggerer lives", async () => {
    const runId = await begin("waits_bad");
    const { tasks } = await fleet.ended("waits_bad", runId, 60_000);
    expect(tasks).toEqual({
      missing: "failed",
      too_big: "failed",
      no_json: "failed",
      negative: "failed",
      hangs: "failed",
      soft: "skipped",
      ends_badly: "failed",
      ends_skipped: "skipped",
    });
    const reasons = Object.fromEntries(
      (
        await fleet.query<{ task_id: string; state_reason: string }>(
          "select task_id, state_reason from task_instance where run_id = $1 and state = 'failed'",
          [runId],
        )
      ).map((row) => [row.task_id, row.state_reason]),
    );
    expect(reasons).toEqual({
      missing: expect.stringContaining("made_too_late") as string,
      too_big: expect.stringMatching(/big.*bytes/) as string,
      no_json: expect.stringMatching(/soon.*n/) as string,
      negative: expect.stringMatching(/-1/) as string,
      hangs: expect.stringMatching(/SensorTimeout/) as string,
      ends_badly: expect.stringContaining("it ended badly") as string,
    });
    const after = await begin("waits_long");
    await isDeferred(after);
    await tell(markRun(db, versions, { dagId: "waits_long", runId: after, state: "success", user }));
  });

  it("pokes a hundred times in one try, each poke once, while the broker stalls", async () => {
    const runId = await begin("waits_pokes");
    const count = async () =>
      (
        await fleet.query("select from task_reschedule r join dag_run d on d.id = r.dag_run_id where d.run_id = $1", [
          runId,
        ])
      ).length;
    for (const at of [20, 50, 80]) {
      await waitUntil(async () => (await count()) >= at, { what: `${at} pokes`, timeoutMs: 40_000 });
      link.swallow();
      await new Promise((resolve) => setTimeout(resolve, 700));
      link.heal();
    }
    expect((await fleet.ended("waits_pokes", runId, 60_000)).state).toBe("success");
    expect(await notes(runId)).toEqual(Array.from({ length: 101 }, (_, i) => `poke ${i + 1}`));
    expect(await count()).toBe(100);
    const [row] = await fleet.query("select try_number, max_tries from task_instance where run_id = $1", [runId]);
    expect(row).toMatchObject({ try_number: 1 });
  });
});
