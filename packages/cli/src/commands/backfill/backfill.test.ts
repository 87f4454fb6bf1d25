// The commands on a DAG that was read, which nobody serves: the runs are made and moved by hand.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DagProcessor } from "@millrace/scheduler/dag-processor";
import { loadConfig } from "@millrace/shared/config";
import { completeBackfills, Database, DagVersions, fillBackfill } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { startProcess, testDatabase } from "@millrace/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { captureIo } from "../../fixtures/capture-io.ts";
import { runCli } from "../../run-cli.ts";

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
let dir = "";
let db: Database;
let answer: string | undefined;

const millrace = async (...argv: string[]) => {
  const { io, captured } = captureIo({ MILLRACE__DATABASE__URL: database.url });
  const given = answer;
  const code = await runCli(argv, given === undefined ? io : { ...io, ask: () => Promise.resolve(given) });
  return { code, ...captured() };
};
const RANGE = ["--dag-id", "daily", "--from-date", "2026-01-01", "--to-date", "2026-01-04"];
const create = async (...more: string[]) => await millrace("backfill", "create", ...RANGE, ...more);
const read = async (...argv: string[]) =>
  JSON.parse((await millrace("backfill", ...argv, "-o", "json")).out) as Record<string, unknown>[];
const fill = async () =>
  await db.transaction(async (tx) => await fillBackfill(tx, new DagVersions(db), [], () => undefined));

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "millrace-backfill-"));
  await writeFile(
    join(dir, "dags.ts"),
    `import { Dag } from "@millrace/sdk";
const daily = new Dag("daily", { schedule: "0 0 * * *", startDate: new Date("2026-01-01"), isPausedUponCreation: true });
daily.task("a", () => 1)();
const past = new Dag("past", { schedule: "0 0 * * *", startDate: new Date("2026-01-01") });
past.task("a", () => 1, { dependsOnPast: true })();
const byHand = new Dag("by_hand");
byHand.task("a", () => 1)();
`,
  );
  db = new Database({ url: database.url, applicationName: "test", maxConnections: 2, maxRetries: 2, log });
});
beforeEach(async () => {
  await database.reset();
  await db.read("alter table backfill alter id restart");
  answer = undefined;
  const config = loadConfig({ env: {}, overrides: { "core.dags_folder": dir, "database.url": database.url } });
  await new DagProcessor({ db, config, log }).processOnce();
});
afterAll(async () => {
  await db.close();
  await rm(dir, { recursive: true, force: true });
});

describe("backfill create", () => {
  test("says what it made and what holds it, for people and for programs", async () => {
    const { code, out, notes } = await create();
    expect({ code, out }).toEqual({ code: 0, out: "backfill 1 of daily: 4 dates, 10 at once\n" });
    expect(notes).toContain("daily is paused");
    expect(await read("list")).toMatchObject([
      { id: 1, dag_id: "daily", state: "active", total: 4, left: 4, max_active_runs: 10, completed_at: null },
    ]);
  });

  test("takes Airflow's other names of its options", async () => {
    const [made] = JSON.parse(
      (
        await millrace(
          ...["backfill", "create", "--dag-id", "daily", "--start-date", "2026-01-01", "--end-date", "2026-01-02"],
          ...[
            "--reprocess-behavior",
            "failed",
            "--run-backwards",
            "--max-active-runs",
            "3",
            "--dag-run-conf",
            '{"a":1}',
          ],
          ...["-o", "json"],
        )
      ).out,
    ) as unknown[];
    expect(made).toMatchObject({
      total: 2,
      reprocess_behavior: "failed",
      run_backwards: true,
      max_active_runs: 3,
      dag_run_conf: { a: 1 },
    });
  });

  test("with --dry-run only lists the dates", async () => {
    const { code, out, notes } = await create("--dry-run", "--run-backwards");
    expect({ code, notes }).toEqual({ code: 0, notes: "4 dates would run, 0 are left out: they have a run\n" });
    expect(out).toMatch(/^logical date +verdict\n2026-01-04T00:00:00Z +create\n/);
    expect(await db.read("select from backfill")).toEqual([]);
  });

  test.each<[string[], number, RegExp]>([
    [["--dag-id", "nope", "--from-date", "2026-01-01", "--to-date", "2026-01-02"], 1, /no DAG nope/],
    [["--dag-id", "by_hand", "--from-date", "2026-01-01", "--to-date", "2026-01-02"], 1, /has no schedule/],
    [["--dag-id", "daily", "--from-date", "2026-01-02", "--to-date", "2026-01-01"], 1, /after its end/],
    [["--dag-id", "daily", "--from-date", "2100-01-01", "--to-date", "2100-01-02"], 1, /in the future/],
    [["--dag-id", "daily", "--from-date", "2026-01-01T01:00", "--to-date", "2026-01-01T02:00"], 1, /no date from/],
    [["--dag-id", "past", "--from-date", "2026-01-01", "--to-date", "2026-01-02"], 1, /a depend on their past/],
    [["--dag-id", "past", ...RANGE.slice(2), "--reprocessing-behavior", "failed", "--run-backwards"], 1, /backwards/],
    [["--dag-id", "daily", "--from-date", "2026-01-01"], 2, /--to-date/],
    [["--dag-id", "daily", "--from-date", "soon", "--to-date", "2026-01-01"], 2, /Give a date/],
    [[...RANGE, "--reprocessing-behavior", "all"], 2, /none, failed, completed/],
    [[...RANGE, "--max-active-runs", "0"], 2, /whole number/],
  ])("%j ends with %i", async (argv, code, says) => {
    for (const dry of [[], ["--dry-run"]]) {
      const ended = await millrace("backfill", "create", ...argv, ...dry);
      expect(ended.code).toBe(code);
      expect(ended.notes).toMatch(says);
    }
    expect(await db.read("select from backfill")).toEqual([]);
  });

  test("is refused while another is active", async () => {
    await create();
    const { code, notes } = await create();
    expect(code).toBe(1);
    expect(notes).toContain("active backfill already: 1");
  });

  test("with --wait shows how far it is, and ends with 1 when a run failed", async () => {
    const waiting = create("--wait");
    await expect.poll(async () => (await db.read("select from backfill")).length).toBe(1);
    await fill();
    await db.read("update dag_run set state = 'running', start_date = now()");
    await db.read(
      "update dag_run set state = case when logical_date = '2026-01-01' then 'failed' else 'success' end, end_date = now()",
    );
    await db.run(completeBackfills, []);
    const { code, notes } = await waiting;
    expect(code).toBe(1);
    expect(notes.trimEnd().split("\n").at(-1)).toBe("backfill 1 of daily  100 %  3 done, 1 failed, 0 running, 0 left");
  });

  test("with --wait ends with 0 when all runs succeeded, and with 1 when it was cancelled", async () => {
    const all = create("--wait");
    await expect.poll(async () => (await db.read("select from backfill")).length).toBe(1);
    await fill();
    await db.read("update dag_run set state = 'running', start_date = now()");
    await db.read("update dag_run set state = 'success', end_date = now()");
    await db.run(completeBackfills, []);
    expect(await all).toMatchObject({ code: 0, notes: expect.stringContaining("4 done, 0 failed, 0 running, 0 left") });

    const cancelled = create("--wait", "--reprocessing-behavior", "completed");
    await expect.poll(async () => (await db.read("select from backfill")).length).toBe(2);
    expect((await millrace("backfill", "cancel", "2", "-y")).code).toBe(0);
    expect((await cancelled).code).toBe(1);
  });

  test("Ctrl-C ends the watching, and leaves the backfill alone", async () => {
    const env = { MILLRACE__DATABASE__URL: database.url, MILLRACE__BROKER__URL: "postgres" };
    const waiting = startProcess({ args: ["backfill", "create", ...RANGE, "--wait"], env });
    await waiting.waitForLine(/^backfill 1 of daily {2}0 % {2}0 done, 0 failed, 0 running, 4 left/);
    waiting.kill("SIGINT");
    expect(await waiting.exited).toMatchObject({ signal: "SIGINT" });
    expect(await read("list")).toMatchObject([{ state: "active", total: 4, left: 4, completed_at: null }]);
    await fill();
    expect(await db.read("select from dag_run where state = 'queued'")).toHaveLength(4);
  });
});

test("show says how far it is, and which dates got no run", async () => {
  await db.read(
    `insert into dag_run (dag_id, run_id, run_type, state, run_after, logical_date, created_dag_version_id)
     select 'daily', 'scheduled__1', 'scheduled', 'success', '2026-01-02', '2026-01-01', id from dag_version where dag_id = 'daily'`,
  );
  await create();
  await fill();
  const { out } = await millrace("backfill", "show", "1");
  expect(out).toMatch(/^backfill 1 of daily {2}25 % {2}0 done, 0 failed, 0 running, 3 left {2}its DAG is paused\n/);
  expect(out).toMatch(/2026-01-01T00:00:00Z +already exists/);
  expect(await read("show", "1")).toMatchObject([{ total: 4, skipped: 1, left: 3 }]);
  expect((await millrace("backfill", "show", "9")).code).toBe(1);
});

test("pause, unpause and cancel change it, the last after a question", async () => {
  await create();
  await fill();
  expect((await millrace("backfill", "pause", "1")).notes).toBe("backfill 1 is paused\n");
  expect(await read("list")).toMatchObject([{ state: "paused" }]);
  expect((await millrace("backfill", "unpause", "1")).notes).toBe("backfill 1 goes on\n");
  answer = "n";
  expect((await millrace("backfill", "cancel", "1")).code).toBe(1);
  expect(await read("list", "--active")).toHaveLength(1);
  answer = "y";
  expect((await millrace("backfill", "cancel", "1")).notes).toBe("backfill 1 is cancelled: 4 queued runs failed\n");
  expect(await read("list", "--active")).toEqual([]);
  expect(await read("list", "--dag-id", "daily")).toMatchObject([{ state: "cancelled", failed: 4, left: 0 }]);
  for (const what of ["pause", "unpause", "cancel"]) {
    const ended = await millrace("backfill", what, "1");
    expect(ended.code).toBe(1);
    expect(ended.notes).toContain("is over since");
  }
  expect(
    (await db.read<{ event: string }>("select event from log where event like '%backfill' order by id")).map(
      (row) => row.event,
    ),
  ).toEqual(["create_backfill", "pause_backfill", "unpause_backfill", "cancel_backfill"]);
});
