// Large values through real processes and an object store: handed on whole, shown by the command line and the API, gone
// with their run, kept apart from the try that a killed worker left, and never within reach of the code of tasks.
import { existsSync } from "node:fs";
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { loadConfig } from "@millrace/shared/config";
import { Database } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { XComs } from "@millrace/shared/xcoms";
import { startObjectStore, testDatabase, testRedisUrl, waitUntil, type MillraceProcess } from "@millrace/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
const store = await startObjectStore();
const settings = {
  MILLRACE__COMMON_IO__XCOM_OBJECTSTORAGE_PATH: `s3://${store.bucket}/team`,
  MILLRACE__COMMON_IO__XCOM_OBJECTSTORAGE_ENDPOINT: store.url,
  MILLRACE__COMMON_IO__XCOM_OBJECTSTORAGE_REGION: store.region,
  MILLRACE__COMMON_IO__XCOM_OBJECTSTORAGE_ACCESS_KEY_ID: store.accessKeyId,
  MILLRACE__COMMON_IO__XCOM_OBJECTSTORAGE_SECRET_ACCESS_KEY: store.secretAccessKey,
  MILLRACE__COMMON_IO__XCOM_OBJECTSTORAGE_MAX_BYTES: "3000000",
};
const folder = await mkdtemp(join(tmpdir(), "millrace-crash-"));
const crashPoint = join(folder, "crash-point");
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 2, maxRetries: 3, log });
const xcoms = new XComs(db, loadConfig({ env: settings, cwd: "/nonexistent" }));
let fleet: Fleet;
let worker: MillraceProcess;

const FILE = `
import { Dag, getClient } from "@millrace/sdk";

const large = new Dag("large");
const made = large.task("makes", async () => {
  await getClient().setXCom({ key: "rows", value: new Map([["rows", "é".repeat(100_000)]]) });
  return { text: "x".repeat(2_000_000), rows: 12n, password: "hush", env: Object.entries(process.env).flatMap(([name, value]) => (/MILLRACE_|AKIDTEST|key.of.the test/.test(name + value) ? [name] : [])) };
}, { retries: 1, retryDelay: 0 })();
large.task("takes", async ({ text, rows }: { text: string; rows: bigint }) => {
  const more = await getClient().getXCom<Map<string, string>>({ taskId: "makes", key: "rows" });
  return [text.length, rows, more?.get("rows")?.length];
}, { retries: 0 })({ text: made.get("text"), rows: made.get("rows") });

const mapped = new Dag("mapped_large");
const lists = mapped.task("makes", () => ({ items: [1, 2, 3], rest: "x".repeat(100_000) }))();
const each = mapped.task("each", ({ n }: { n: number }) => String(n).repeat(70_000)).expand({ n: lists.get("items") });
mapped.task("sums", ({ all }: { all: string[] }) => all.map((one) => one.length + " " + one[0]))({ all: each });

new Dag("too_large").task("makes", () => "x".repeat(3_000_000), { retries: 0 })();
`;

beforeAll(async () => {
  fleet = await openFleet(database, redisUrl, database.url, {
    ...settings,
    MILLRACE_TEST_CRASH_POINTS: crashPoint,
  });
  await writeFile(join(fleet.folder, "dags", "large.ts"), FILE);
  await fleet.start(["dag-processor"]);
  await waitUntil(async () => (await fleet.query("select from dag where dag_id like '%large'")).length === 3, {
    what: "the DAGs are read",
    timeoutMs: 30_000,
  });
  await fleet.query("update dag set is_paused = dag_id not like '%large'");
  [, worker] = await Promise.all([fleet.start(["scheduler"]), fleet.start(["worker"])]);
}, 120_000);

afterAll(async () => {
  await fleet.close();
  await db.close();
  await store.close();
  await rm(folder, { recursive: true });
});

const run = async (dagId: string, runId: string) => {
  await fleet.command(["dags", "trigger", dagId, "-r", runId]);
  return await fleet.ended(dagId, runId, 90_000);
};
const reason = async (runId: string, taskId: string) =>
  (
    await fleet.query<{ reason: string }>(
      "select state_reason as reason from task_instance where run_id = $1 and task_id = $2",
      [runId, taskId],
    )
  )[0]?.reason;
const held = (runId: string) =>
  fleet.query<{ key: string; at: string | null; bytes: number }>(
    "select key, value ->> 'key' as at, octet_length(value::text) as bytes from xcom where run_id = $1 and task_id = 'makes' order by key",
    [runId],
  );

it("a large value reaches the next task whole, and its row stays small", { timeout: 240_000 }, async () => {
  expect(await run("large", "whole")).toEqual({ state: "success", tasks: { makes: "success", takes: "success" } });
  const [taken] = await fleet.query("select value from xcom where run_id = 'whole' and task_id = 'takes'");
  expect(taken).toEqual({ value: [2_000_000, { value: "12", $millrace: "bigint" }, 100_000] });
  const rows = await held("whole");
  expect(rows.map((row) => row.key)).toEqual(["return_value", "rows"]);
  for (const { at, bytes } of rows) {
    expect(store.objects.has(at ?? "")).toBe(true);
    expect(bytes).toBeLessThan(500);
  }
});

it(
  "the command line shows it, masked, and the code of a task has no key of the store",
  { timeout: 240_000 },
  async () => {
    const listed = await fleet.command(["xcoms", "list", "large", "whole", "-o", "json"]);
    expect(JSON.parse(listed.join("\n"))).toMatchObject([
      { task_id: "makes", key: "return_value", kept_in: "object store" },
      { task_id: "makes", key: "rows", bytes: 200_041, kept_in: "object store" },
      { task_id: "takes", key: "return_value", kept_in: "database" },
    ]);
    const [line = ""] = await fleet.command(["xcoms", "get", "large", "makes", "whole"]);
    const value = JSON.parse(line) as Record<string, unknown>;
    expect(value).toMatchObject({ rows: { $millrace: "bigint", value: "12" }, password: "***", env: [] });
    expect(String(value["text"])).toHaveLength(2_000_000);
  },
);

it("tasks are mapped over lists that are in the store", { timeout: 240_000 }, async () => {
  expect((await run("mapped_large", "three")).state).toBe("success");
  const [sums] = await fleet.query("select value from xcom where run_id = 'three' and task_id = 'sums'");
  expect(sums).toEqual({ value: ["70000 1", "70000 2", "70000 3"] });
  expect(
    await fleet.query("select from xcom where run_id = 'three' and value ->> '$millrace' = 'stored'"),
  ).toHaveLength(4);
});

it("a value beyond the store's own limit fails its task with both sizes", { timeout: 240_000 }, async () => {
  expect((await run("too_large", "one")).state).toBe("failed");
  expect(await reason("one", "makes")).toContain("is 3000002 bytes of JSON, and the limit is 3000000");
});

it("a store that refuses fails a try, one that is slow for a moment does not", { timeout: 240_000 }, async () => {
  store.faults.push({ status: 400, code: "InvalidRequest" });
  expect((await run("large", "refused")).state).toBe("success");
  const tries = async (runId: string) =>
    (await fleet.query("select from task_instance_history where run_id = $1", [runId])).length;
  expect(await tries("refused")).toBe(1);
  store.faults.push(...Array.from({ length: 3 }, () => ({ status: 503, code: "SlowDown" })));
  expect((await run("large", "slow")).state).toBe("success");
  expect(await tries("slow")).toBe(0);
});

it(
  "a value that somebody removed from the bucket fails its reader at once, and says which",
  { timeout: 240_000 },
  async () => {
    await fleet.command(["dags", "trigger", "large", "-r", "lost"]);
    expect((await fleet.ended("large", "lost")).state).toBe("success");
    const [whole] = await held("lost");
    store.objects.delete(whole?.at ?? "");
    await fleet.command(["tasks", "clear", "large", "takes", "--run", "lost", "-y"]);
    await waitUntil(
      async () =>
        (await fleet.query("select from task_instance where run_id = 'lost' and state = 'failed'")).length > 0,
      {
        what: "its reader has failed",
        timeoutMs: 60_000,
      },
    );
    expect(await reason("lost", "takes")).toContain(`XComUnavailable: The object store has nothing under ${whole?.at}`);
  },
);

it("what a killed worker stored is not the next try's, and goes", { timeout: 240_000 }, async () => {
  store.objects.clear();
  await writeFile(crashPoint, "worker.handled");
  await fleet.command(["dags", "trigger", "large", "-r", "killed"]);
  await waitUntil(() => existsSync(`${crashPoint}.${worker.pid}`), {
    what: "the worker has stored the values and written no end",
    timeoutMs: 60_000,
  });
  const orphans = [...store.objects.keys()];
  await worker.dispose();
  worker = await fleet.start(["worker"]);
  expect((await fleet.ended("large", "killed", 90_000)).state).toBe("success");
  const kept = (await held("killed")).map((row) => row.at ?? "");
  expect(orphans.some((key) => kept.includes(key))).toBe(false);
  await fleet.query("update xcom_object set due_at = now() where due_at is not null");
  await xcoms.removeDue();
  await waitUntil(() => [...store.objects.keys()].sort().join() === kept.sort().join(), {
    what: "the killed worker's objects are gone and the others stay",
    timeoutMs: 30_000,
  });
});

it("values go with their run", { timeout: 240_000 }, async () => {
  await fleet.command(["dags", "delete-run", "large", "killed", "-y"]);
  await fleet.query("update xcom_object set due_at = now() where due_at is not null");
  await xcoms.removeDue();
  await waitUntil(() => store.objects.size === 0, { what: "no object is left", timeoutMs: 30_000 });
});
