// Triggerers as processes: two share the waits, one of them is killed in the middle, and a DAG whose tasks wait for all
// kinds of triggers runs to its end with scheduler and worker.
import { readFile } from "node:fs/promises";
import { join } from "node:path";
import { testDatabase, testRedisUrl, waitUntil } from "@millrace/testkit";
import { outcomeOfWaits, seedWaits } from "@millrace/testkit/waits";
import { Redis } from "ioredis";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
let fleet: Fleet;

beforeAll(async () => {
  fleet = await openFleet(database, redisUrl, database.url, {
    MILLRACE__CORE__DAGS_FOLDER: new URL("./dags", import.meta.url).pathname,
  });
}, 60_000);
afterAll(() => fleet.close());

const query = async <R>(sql: string, params: readonly unknown[] = []): Promise<readonly R[]> =>
  (await fleet.client.query(sql, [...params])).rows as R[];

describe("two triggerers", { timeout: 120_000 }, () => {
  it("ten thousand waits, one triggerer killed in the middle: none lost, none resumed twice, none early", async () => {
    const [first] = await Promise.all([fleet.start(["triggerer"]), fleet.start(["triggerer"])]);
    const run = await seedWaits(query, { count: 10_000, firstSeconds: 2.5, spreadSeconds: 4 });
    const redis = new Redis(redisUrl);
    await redis.publish("millrace:triggers", "");
    redis.disconnect();
    const shares = await waitUntil(
      async () => {
        const held = await query<{ n: number }>(
          "select count(*)::int as n from trigger where triggerer_id is not null group by triggerer_id order by n",
        );
        return held.reduce((sum, { n }) => sum + n, 0) === 10_000 ? held.map(({ n }) => n) : undefined;
      },
      { what: "all are taken", timeoutMs: 15_000 },
    );
    expect(shares).toHaveLength(2);
    expect(shares[0]).toBeGreaterThan(3_000);
    await waitUntil(async () => (await outcomeOfWaits(query, run)).resumed > 3_000, {
      what: "it is in the middle",
      timeoutMs: 15_000,
    });
    first.kill("SIGKILL");
    await waitUntil(async () => (await query("select from trigger limit 1")).length === 0, {
      what: "every wait is over",
      timeoutMs: 30_000,
    });
    const outcome = await outcomeOfWaits(query, run);
    console.log(
      `10,000 waits, one of two triggerers killed: lateness p50 ${outcome.lateMsP50.toFixed(0)} ms, p99 ${outcome.lateMsP99.toFixed(0)} ms`,
    );
    expect(outcome).toMatchObject({ waiting: 0, resumed: 10_000, twice: 0, early: 0 });
    await query("delete from dag_run where id = $1", [run]);
  });

  it("a DAG whose tasks wait runs to its end, and only what misbehaves fails", async () => {
    await fleet.start(["dag-processor"]);
    await waitUntil(async () => (await query("select from dag where dag_id = 'waits'")).length > 0, {
      what: "the DAG is read",
      timeoutMs: 30_000,
    });
    expect(await query("select filename, stacktrace from import_error")).toEqual([]);
    await Promise.all([fleet.start(["scheduler"]), fleet.start(["worker"]), fleet.start(["triggerer"])]);
    await fleet.command(["dags", "trigger", "waits", "-r", "one"]);
    const { state, tasks } = await fleet.ended("waits", "one", 40_000).catch(async (error: unknown) => {
      console.log(
        await query("select task_id, state, next_method, next_kwargs from task_instance where dag_id = 'waits'"),
      );
      throw error;
    });
    expect({ state, tasks }).toEqual({
      state: "failed",
      tasks: {
        ...{ moment: "success", own: "success", patient: "success", unattended: "success" },
        ...{ blocking: "failed", throwing: "success", limited: "success" },
      },
    });
    const values = await query<{ task_id: string; value: unknown }>(
      "select task_id, value from xcom where dag_id = 'waits' and key = 'return_value' order by task_id",
    );
    expect(Object.fromEntries(values.map((row) => [row.task_id, row.value]))).toMatchObject({
      ...{ moment: "early until true", own: 10, patient: 100, limited: "TriggerTimeout" },
      throwing: expect.stringContaining("out of range") as string,
      unattended: { at: expect.stringMatching(/^\d{4}-/) as string },
    });
    const [blocking] = await query<{ reason: string }>(
      "select state_reason as reason from task_instance where task_id = 'blocking'",
    );
    expect(blocking?.reason).toContain("trigger blocks: its process had its event loop blocked for");
    // No try but the first, whatever the waits did; and a task that began with its trigger and ended with it had no worker.
    expect(
      await query(
        "select task_id from task_instance where try_number <> 1 or (task_id = 'unattended' and pid is not null)",
      ),
    ).toEqual([]);
    const log = join(fleet.folder, "logs/dag_id=waits/run_id=one/task_id=own/attempt=1.log");
    expect(await readFile(log, "utf8")).toContain("counting to 10");
  });
});
