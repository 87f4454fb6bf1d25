// The assets of two DAGs on the command line: one updates `orders`, the other waits for it and for `rates`.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DagProcessor } from "@millrace/scheduler/dag-processor";
import { loadConfig } from "@millrace/shared/config";
import { createAssetEvent, Database } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeAll, expect, test } from "vitest";
import { captureIo } from "../../fixtures/capture-io.ts";
import { runCli } from "../../run-cli.ts";

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 2, maxRetries: 2, log });
let dir = "";

const millrace = async (...argv: string[]) => {
  const { io, captured } = captureIo({ MILLRACE__DATABASE__URL: database.url, MILLRACE__BROKER__URL: "postgres" });
  const code = await runCli(argv, io);
  return { code, ...captured() };
};
const json = async (...argv: string[]) => JSON.parse((await millrace(...argv, "-o", "json")).out) as unknown;

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "millrace-assets-"));
  await writeFile(
    join(dir, "assets.ts"),
    `import { allOf, Asset, Dag } from "@millrace/sdk";
const orders = new Asset({ name: "orders", uri: "s3://lake/orders" });
const rates = new Asset({ name: "rates" });
const loads = new Dag("loads", { isPausedUponCreation: false });
loads.task("load", () => 1, { outlets: orders })();
const report = new Dag("report", { isPausedUponCreation: false, schedule: allOf(orders, rates) });
report.task("sum", () => 1)();
`,
  );
  const config = loadConfig({ env: {}, overrides: { "core.dags_folder": dir, "database.url": database.url } });
  await new DagProcessor({ db, config, log }).processOnce();
});
afterAll(async () => {
  await db.close();
  await rm(dir, { recursive: true, force: true });
});

test("assets, their events and what waits for the rest of its condition are shown; one is updated on demand", async () => {
  expect(await json("assets", "list")).toMatchObject([
    { name: "orders", uri: "s3://lake/orders", updated_by: ["loads.load"], starts: ["report"], last_event: null },
    { name: "rates", updated_by: [], starts: ["report"] },
  ]);
  const [asset] = await db.read<{ id: number }>("select id from asset where name = 'orders'");
  await createAssetEvent(db, { assetId: asset?.id ?? 0, extra: { rows: 2 }, user: "ada" });
  expect(await json("assets", "events", "s3://lake/orders")).toMatchObject([
    { asset: "orders", source: null, extra: { rows: 2 }, runs: [] },
  ]);
  expect(await json("assets", "details", "orders")).toMatchObject([{ name: "orders", queued_for: ["report"] }]);
  expect((await millrace("assets", "details", "orders")).out).toMatch(/waits for more.*\n.*report/);
  const told = (await millrace("explain", "report")).out;
  expect(told).toMatch(/^report\n/);
  expect(told).toContain("  it waits for orders and rates\n  orders has come: an event waits since ");
  expect(told).toContain("  rates is missing: it never had an event; no task updates it");
  expect(await json("explain", "report")).toMatchObject([
    {
      dag_id: "report",
      is_paused: false,
      conditions: expect.arrayContaining(
        [{ kind: "asset_awaited", asset: "rates" }].map((it) => expect.objectContaining(it) as unknown),
      ) as unknown,
    },
  ]);
  expect(await json("assets", "materialize", "orders", "-c", '{"n":1}')).toMatchObject([{ dag_id: "loads" }]);
  expect(await db.read("select run_type, conf from dag_run")).toEqual([
    { run_type: "asset_materialization", conf: { n: 1 } },
  ]);
});

test("what is not there, or cannot be updated, ends with 1 and a reason", async () => {
  expect(await millrace("assets", "details", "nope")).toMatchObject({ code: 1 });
  expect(await millrace("assets", "events", "nope")).toMatchObject({ code: 1 });
  expect(await millrace("assets", "materialize", "rates")).toMatchObject({ code: 1 });
  expect((await millrace("explain", "nope")).notes).toContain("There is no DAG nope");
});
