// Mapped tasks with real schedulers, workers and children: how they are expanded, what goes wrong with their lists, and
// what becomes of them when they are cleared, or their worker dies.
import { existsSync } from "node:fs";
import { mkdtemp, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { loadConfig } from "@millrace/shared/config";
import { clearTasks, DagVersions, Database, explainTask, triggerRun } from "@millrace/shared/db";
import { describeCondition } from "@millrace/shared/model";
import { createLogger } from "@millrace/shared/observability";
import { announce, openBroker } from "@millrace/shared/queue";
import { testDatabase, testRedisUrl, waitUntil, type MillraceProcess } from "@millrace/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
const LIMIT = 60;
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 3, maxRetries: 3, log });
const config = loadConfig({ env: { MILLRACE__CORE__MAX_MAP_LENGTH: String(LIMIT) }, cwd: "/" });
const versions = new DagVersions(db, LIMIT);
const broker = openBroker({ url: redisUrl, prefix: "millrace", databaseUrl: database.url, log });
const user = "ada";

let fleet: Fleet;
let worker: MillraceProcess;

beforeAll(async () => {
  fleet = await openFleet(database, redisUrl, database.url, { MILLRACE__CORE__MAX_MAP_LENGTH: String(LIMIT) });
  await fleet.start(["dag-processor"]);
  await waitUntil(async () => (await fleet.query("select from dag where dag_id like 'mapping_%'")).length === 3, {
    what: "every DAG is read",
    timeoutMs: 60_000,
  });
  await fleet.query("update dag set is_paused = true where dag_id not like 'mapping_%'");
  await Promise.all([fleet.start(["scheduler"]), fleet.start(["scheduler"])]);
  worker = await fleet.start(["worker"]);
}, 180_000);

afterAll(async () => {
  await fleet.close();
  await broker.close();
  await db.close();
});

let runs = 0;
interface Run {
  readonly dagId: string;
  readonly runId: string;
  readonly folder: string;
}

async function begin(dagId: string, items: unknown): Promise<Run> {
  const folder = await mkdtemp(join(fleet.folder, "run-"));
  await tell(folder, items);
  const runId = `run_${++runs}`;
  const run = await triggerRun(db, versions, { dagId, runId, conf: { folder }, triggeredBy: "cli", user });
  announce(broker, { dagRunIds: [run.id], stopped: [] });
  return { dagId, runId, folder };
}

const tell = async (folder: string, items: unknown): Promise<void> =>
  await writeFile(join(folder, "items.json"), JSON.stringify(items));

/** The state of the run when it has ended, and of its task instances by name. */
async function end({ dagId, runId }: Run): Promise<{ run: string; tasks: Record<string, string> }> {
  const { state } = await fleet.ended(dagId, runId);
  const rows = await fleet.query<{ name: string; state: string }>(
    `select case when map_index < 0 then task_id else task_id || '[' || map_index || ']' end as name, state
     from task_instance where dag_id = $1 and run_id = $2 order by task_id, map_index`,
    [dagId, runId],
  );
  return { run: state, tasks: Object.fromEntries(rows.map(({ name, state: one }) => [name, one])) };
}

async function valueOf({ dagId, runId }: Run, taskId: string): Promise<unknown> {
  const [row] = await fleet.query<{ value: unknown }>(
    "select value from xcom where dag_id = $1 and run_id = $2 and task_id = $3 and key = 'return_value'",
    [dagId, runId, taskId],
  );
  return row?.value;
}

const why = async ({ dagId, runId }: Run, taskId: string): Promise<string> =>
  (await explainTask(db, versions, config, dagId, runId, taskId)).conditions.map(describeCondition).join("; ");
const clearAll = async ({ dagId, runId }: Run): Promise<void> =>
  announce(broker, await clearTasks(db, versions, { dagId, runIds: [runId], user }));
const command = async (...args: string[]): Promise<string> => (await fleet.command(args)).join("\n");
const all = (name: string, length: number, state = "success"): Record<string, string> =>
  Object.fromEntries(Array.from({ length }, (_, i) => [`${name}[${i}]`, state]));

describe("mapped tasks", { timeout: 120_000 }, () => {
  it("have an instance for each element, with its label, and give the list of what they returned", async () => {
    const run = await begin("mapping_list", ["a", "flaky", "c"]);
    expect(await end(run)).toEqual({
      run: "success",
      tasks: { given: "success", ...all("each", 3), total: "success", beside: "success" },
    });
    expect(await valueOf(run, "total")).toBe("A,FLAKY,C");
    const tries = await fleet.query(
      "select try_number, rendered_map_index from task_instance where run_id = $1 and task_id = 'each' order by map_index",
      [run.runId],
    );
    expect(tries).toEqual([
      { try_number: 1, rendered_map_index: "a" },
      { try_number: 2, rendered_map_index: "flaky" },
      { try_number: 1, rendered_map_index: "c" },
    ]);
  });

  it.each([
    ["nothing to do", [], "skipped", "what it is mapped over has no elements"],
    [
      "an object",
      { a: 1 },
      "failed",
      "it is mapped over given, which is no list: it is an object; let it be Object.entries(…) of that, or [...map]",
    ],
    ["a number", 7, "failed", "it is mapped over given, which is no list: it is a number"],
    ["null", null, "failed", "it is mapped over given, which is no list: it is null"],
    ["a list that is too long", Array.from({ length: LIMIT + 1 }, () => "x"), "failed", `more than ${LIMIT}`],
  ])("over %s end without an instance, say why, and hold up nobody", async (_what, items, state, reason) => {
    const run = await begin("mapping_list", items);
    const isSkipped = state === "skipped";
    expect(await end(run)).toEqual({
      run: isSkipped ? "success" : "failed",
      tasks: {
        given: "success",
        each: state,
        total: isSkipped ? "success" : "upstream_failed",
        beside: "success",
      },
    });
    expect(await why(run, "each")).toContain(reason);
    if (isSkipped) expect(await valueOf(run, "total")).toBe("");
  });

  it("are fitted to a list that has become longer, or shorter, when it is cleared", async () => {
    const run = await begin("mapping_list", ["a", "b", "c"]);
    await end(run);
    await tell(run.folder, ["d"]);
    await clearAll(run);
    const shorter = await end(run);
    expect(shorter.tasks).toMatchObject({ "each[0]": "success", "each[1]": "removed", "each[2]": "removed" });
    expect([shorter.run, await valueOf(run, "total")]).toEqual(["success", "D"]);
    await tell(run.folder, ["e", "f", "g", "h"]);
    await clearAll(run);
    const longer = await end(run);
    expect(longer.tasks).toMatchObject(all("each", 4));
    expect([longer.run, await valueOf(run, "total")]).toEqual(["success", "E,F,G,H"]);
  });

  it("are listed, explained, cleared and marked by their indexes from the command line", async () => {
    const run = await begin("mapping_list", ["a", "bad", "c"]);
    expect(await end(run)).toMatchObject({ run: "failed", tasks: { "each[1]": "failed", total: "upstream_failed" } });
    expect(await why(run, "total")).toContain("each[1] is failed");
    const printed = await command("tasks", "states-for-dag-run", "mapping_list", run.runId, "-o", "json");
    const listed = JSON.parse(printed) as { map_index: number; rendered_map_index: string | null }[];
    const labels = listed.filter((one) => one.map_index >= 0).map((one) => [one.map_index, one.rendered_map_index]);
    expect(Object.fromEntries(labels)).toEqual({ 0: "a", 1: "bad", 2: "c" });
    expect(await command("explain", "mapping_list", run.runId, "each", "--map-index", "1")).toContain("it is bad");
    const whole = await fleet.attempt(["explain", "mapping_list", run.runId, "each"], {});
    expect([whole.code, whole.lines.join("\n")]).toEqual([1, expect.stringContaining("its indexes are 0 to 2")]);

    await command("tasks", "clear", "mapping_list", "each", "-r", run.runId, "--map-index", "0", "-y");
    await end(run);
    const tries = async () =>
      (
        await fleet.query<{ try_number: number }>(
          "select try_number from task_instance where run_id = $1 and task_id = 'each' order by map_index",
          [run.runId],
        )
      ).map((row) => row.try_number);
    expect(await tries()).toEqual([2, 2, 1]);
    await command("tasks", "set-state", "mapping_list", "each", run.runId, "success", "--map-index", "1", "-y");
    expect(await end(run)).toMatchObject({ run: "success", tasks: { "each[1]": "success", total: "success" } });
    expect(await tries()).toEqual([2, 2, 1]);
    expect(await valueOf(run, "total")).toBe("A,C");
  });

  it("of a group go depth first, and by the trigger rules of their own index", async () => {
    // The slow one ends only after another index has come to the second task.
    const run = await begin("mapping_group", ["slow", "b", "bad"]);
    expect(await end(run)).toEqual({
      run: "success",
      tasks: {
        names: "success",
        ...all("per_item.first", 3),
        "per_item.first[2]": "failed",
        ...all("per_item.second", 3),
        "per_item.second[2]": "upstream_failed",
        ...all("per_item.cleanup", 3),
        after: "success",
      },
    });
    expect(await valueOf(run, "after")).toEqual(["slow 0", "b 1"]);
  });

  it("are expanded once where two schedulers see many of them at once", async () => {
    const many = Array.from({ length: 40 }, (_, i) => `n${i}`);
    const begun = await Promise.all(Array.from({ length: 4 }, async () => await begin("mapping_list", many)));
    for (const run of begun) {
      expect((await end(run)).tasks).toEqual({
        given: "success",
        ...all("each", 40),
        total: "success",
        beside: "success",
      });
    }
    const [attempts] = await fleet.query<{ begun: number; of: number }>(
      `select count(*)::int as begun, count(distinct row_id)::int as of from task_instance_transition
       join task_instance ti using (row_id) where ti.run_id = any ($1) and to_state = 'running'`,
      [begun.map((run) => run.runId)],
    );
    expect(attempts).toEqual({ begun: 4 * 43, of: 4 * 43 });
  });

  it("go on elsewhere when their worker is killed, each once for every try", async () => {
    const run = await begin("mapping_long", [0, 1, 2, 3, 4, 5, 6, 7]);
    const began = () => [0, 1, 2, 3, 4, 5, 6, 7].filter((n) => existsSync(join(run.folder, `began-${n}`)));
    await waitUntil(() => Promise.resolve(began().length === 3), { what: "three run", timeoutMs: 60_000 });
    worker.kill();
    await worker.exited;
    worker = await fleet.start(["worker"]);
    await writeFile(join(run.folder, "go"), "");
    expect(await end(run)).toEqual({
      run: "success",
      tasks: { numbers: "success", ...all("held", 8), sum: "success" },
    });
    expect(await valueOf(run, "sum")).toBe(28);
  });
});
