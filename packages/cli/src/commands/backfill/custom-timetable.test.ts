// The commands on a DAG whose schedule is code of its file: only the dag-processor can ask it.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DagProcessor } from "@millrace/scheduler/dag-processor";
import { loadConfig } from "@millrace/shared/config";
import { Database } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeAll, beforeEach, expect, test } from "vitest";
import { runCaptured } from "../../fixtures/capture-io.ts";

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
let dir = "";
let db: Database;

const millrace = async (...argv: string[]) =>
  await runCaptured(argv, { MILLRACE__DATABASE__URL: database.url, MILLRACE__BROKER__URL: "postgres" });
const JANUARY = ["--dag-id", "workdays", "--from-date", "2026-01-01", "--to-date", "2026-01-06"];

async function readFolder(): Promise<void> {
  const config = loadConfig({ env: {}, overrides: { "core.dags_folder": dir, "database.url": database.url } });
  await new DagProcessor({ db, config, log }).processOnce();
}

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "millrace-timetable-"));
  await writeFile(
    join(dir, "dags.ts"),
    `import { Dag, defineTimetable } from "@millrace/sdk";
const DAY = 86_400_000;
const workdays = defineTimetable({
  name: "workdays",
  next({ last, now, earliest }) {
    if (earliest?.getUTCFullYear() === 2025) throw new Error("no calendar of 2025");
    let start = last?.end ?? earliest ?? new Date(Math.floor(now.getTime() / DAY - 1) * DAY);
    while (start.getUTCDay() % 6 === 0) start = new Date(start.getTime() + DAY);
    return { start, end: new Date(start.getTime() + DAY) };
  },
});
const dag = new Dag("workdays", { schedule: workdays, isPausedUponCreation: true });
dag.task("a", () => 1)();
`,
  );
  db = new Database({ url: database.url, applicationName: "test", maxConnections: 2, maxRetries: 2, log });
});
beforeEach(async () => {
  await database.reset();
  await db.read("alter table backfill alter id restart");
  await readFolder();
});
afterAll(async () => {
  await db.close();
  await rm(dir, { recursive: true, force: true });
});

test("a preview shows what the timetable has answered, and how far it was asked", async () => {
  const until = new Date(Date.now() + 6 * 86_400_000).toISOString();
  const { code, out } = await millrace("dags", "preview", "workdays", "--unpause", "--to", until, "-o", "json");
  expect(code).toBe(0);
  const runs = JSON.parse(out) as { logical_date: string }[];
  expect(runs.length).toBeGreaterThanOrEqual(4);
  for (const { logical_date } of runs) expect(new Date(logical_date).getUTCDay() % 6).not.toBe(0);
  const far = await millrace("dags", "preview", "workdays", "--unpause", "--to", "2100-01-01", "-n", "0");
  expect(far.out).toContain("its timetable was asked up to");
});

test("a backfill has its dates as soon as the dag-processor has asked for them, and cannot be tried dry", async () => {
  const { code, out } = await millrace("backfill", "create", ...JANUARY);
  expect({ code, out }).toEqual({
    code: 0,
    out: "backfill 1 of workdays: the dates that its timetable tells the dag-processor, 10 at once\n",
  });
  expect((await millrace("backfill", "show", "1")).out).toContain("the dag-processor asks its timetable for the dates");
  await readFolder();
  // Thursday, Friday, and after the weekend Monday and Tuesday.
  expect((await millrace("backfill", "show", "1")).out).toMatch(/0 running, 4 left {2}its DAG is paused/);
  const dry = await millrace("backfill", "create", ...JANUARY, "--dry-run");
  expect(dry.code).toBe(1);
  expect(await db.read("select from backfill")).toHaveLength(1);
});

test("with --wait a backfill whose timetable fails ends with 1, and says why", async () => {
  const waiting = millrace(
    ...["backfill", "create", "--dag-id", "workdays", "--from-date", "2025-01-01", "--to-date", "2025-01-03", "--wait"],
  );
  await expect.poll(async () => (await db.read("select from backfill")).length).toBe(1);
  await readFolder();
  const { code, notes } = await waiting;
  expect(code).toBe(1);
  expect(notes).toContain("no calendar of 2025");
  expect(notes).toContain("its timetable failed");
});
