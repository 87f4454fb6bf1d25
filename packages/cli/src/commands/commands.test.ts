import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { stripVTControlCharacters } from "node:util";
import { DagProcessor } from "@millrace/scheduler/dag-processor";
import { loadConfig } from "@millrace/shared/config";
import { Database, getRun } from "@millrace/shared/db";
import { attemptLogPath, createLogger } from "@millrace/shared/observability";
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeAll, describe, expect, onTestFinished, test, vi } from "vitest";
import { captureIo, runCaptured } from "../fixtures/capture-io.ts";
import { runCli } from "../run-cli.ts";

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
let dir = "";
let db: Database;

const millrace = async (...argv: string[]) =>
  await runCaptured(argv, {
    MILLRACE__DATABASE__URL: database.url,
    MILLRACE__LOGGING__BASE_LOG_FOLDER: join(dir, "logs"),
  });
const json = async (...argv: string[]): Promise<Record<string, unknown>[]> => {
  const { out } = await millrace(...argv, "-o", "json");
  return JSON.parse(out) as Record<string, unknown>[];
};

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "millrace-commands-"));
  await writeFile(
    join(dir, "hello.ts"),
    `import { Dag } from "@millrace/sdk";
const dag = new Dag("hello", { schedule: "@daily", tags: ["greeting"] });
const greet = dag.task("greet", () => "hi")();
dag.task("say", ({ text }: { text: string }) => { console.log(text); })({ text: greet });
`,
  );
  await writeFile(join(dir, "broken.ts"), "import {");
  db = new Database({ url: database.url, applicationName: "test", maxConnections: 2, maxRetries: 2, log });
  const config = loadConfig({ env: {}, overrides: { "core.dags_folder": dir, "database.url": database.url } });
  await new DagProcessor({ db, config, log }).processOnce();
});

afterAll(async () => {
  await db.close();
  await rm(dir, { recursive: true, force: true });
});

describe("dags", () => {
  test("list gives stable keys on standard output, and nothing else there", async () => {
    expect(await json("dags", "list")).toMatchObject([
      { dag_id: "hello", is_paused: true, tags: ["greeting"], fileloc: "hello.ts", last_run_state: null },
    ]);
    expect(await json("dags", "list", "--tag", "nothing")).toEqual([]);
    expect((await millrace("dags", "list")).out).toMatch(/^dag id .*\nhello/);
  });

  test("preview says which runs an unpause will create, in a sentence and a table, and refuses nonsense", async () => {
    const { out } = await millrace("dags", "preview", "hello", "--unpause");
    expect(out).toMatch(/^Unpausing hello now creates 8 runs, 1 of them at once until .* UTC\.\n/);
    expect(out).toMatch(/schedule 0 0 \* \* \*, UTC, catchup false/);
    expect(out).toMatch(/interval +local time +utc +starts +remarks/);
    expect(out).toMatch(/at once/);
    expect((await millrace("dags", "preview", "hello")).out).toMatch(/^hello is paused and creates no runs/);
    const rows = await json("dags", "preview", "hello", "--from", "2026-03-28", "--to", "2026-03-29");
    expect(rows).toEqual([]);
    const changed = ["--schedule", "30 2 * * *", "--timezone", "Mars/Olympus"];
    expect(await millrace("dags", "preview", "hello", ...changed)).toMatchObject({
      code: 1,
      notes: expect.stringContaining("IANA zone"),
    });
    expect((await millrace("dags", "preview", "nope")).notes).toContain("There is no DAG nope");
  });

  test("preview of a long range says on a terminal how far it is, and leaves nothing of it", async () => {
    const { io, captured } = captureIo({ MILLRACE__DATABASE__URL: database.url });
    const written: string[] = [];
    const terminal = { ...io, isErrorTty: true, write: (text: string) => void written.push(text) };
    // Each look at the clock is a second after the one before: nothing is too quick to be shown.
    let now = performance.now();
    const clock = vi.spyOn(performance, "now").mockImplementation(() => (now += 1_000));
    onTestFinished(() => clock.mockRestore());
    const minutely = ["--schedule", "* * * * *", "--catchup", "true", "--start-date", "2020-01-01"];
    expect(await runCli(["dags", "preview", "hello", ...minutely, "--limit", "1"], terminal)).toBe(0);
    expect(captured().out).toContain("counting stopped after 100,000 runs");
    expect(written.slice(0, -1).map(stripVTControlCharacters)).toContain("\r5,000 runs found");
    expect(written.at(-1)).toBe("\r\x1b[2K");
  });

  test("list-import-errors ends with 1 when there is one", async () => {
    const { code, out } = await millrace("dags", "list-import-errors");
    expect(out).toContain("broken.ts");
    expect(code).toBe(1);
  });

  test("show and report describe what was read", async () => {
    expect((await millrace("dags", "show", "hello")).out).toMatch(/schedule +.*\n[^]*greet {2}task\n {2}└ say {2}task/);
    expect(await json("dags", "report")).toMatchObject([{ file: "hello.ts", dag_num: 1, task_num: 2 }]);
  });

  test("pause and unpause change it", async () => {
    expect(await millrace("dags", "unpause", "hello")).toMatchObject({ code: 0, out: "hello is active\n" });
    expect(await json("dags", "list")).toMatchObject([{ is_paused: false }]);
    await millrace("dags", "pause", "hello");
    expect(await json("dags", "list")).toMatchObject([{ is_paused: true }]);
  });

  test("trigger starts a run with what it was given, and says that a paused DAG waits", async () => {
    const { code, out, notes } = await millrace(
      ...["dags", "trigger", "hello", "-r", "mine", "-c", '{"a": 1}', "-l", "2026-01-31"],
    );
    expect({ code, out }).toEqual({ code: 0, out: "mine\n" });
    expect(notes).toContain("hello is paused");
    const run = await getRun(db, "hello", "mine");
    expect(run).toMatchObject({ conf: { a: 1 }, state: "queued", triggeredBy: "CLI" });
    expect(run.logicalDate?.toISOString()).toBe("2026-01-31T00:00:00.000Z");
    expect(await json("dags", "list-runs", "hello")).toMatchObject([{ run_id: "mine", conf: { a: 1 } }]);
    expect((await millrace("dags", "state", "hello", "mine")).out).toBe("queued\n");
    expect((await millrace("dags", "state", "hello", "2026-01-31")).out).toBe("queued\n");
    const again = await millrace("dags", "trigger", "hello", "-r", "mine");
    expect(again).toMatchObject({
      code: 1,
      out: "",
      notes: expect.stringContaining("already has a run mine") as unknown,
    });
  });

  test.each([
    [["dags", "trigger", "nope"], "There is no DAG nope"],
    [["dags", "show", "nope"], "There is no DAG nope"],
    [["dags", "list-runs", "nope"], "There is no DAG nope"],
    [["dags", "pause", "nope"], "There is no DAG nope"],
    [["dags", "state", "hello", "nope"], "has no run nope"],
    [["tasks", "list", "nope"], "There is no DAG nope"],
    [["tasks", "state", "hello", "nope", "mine"], "has no task nope"],
    [["tasks", "logs", "hello", "greet", "mine"], "There is no log of try 1"],
    [["pools", "get", "nope"], "There is no pool nope"],
    [["variables", "get", "nope"], "There is no variable nope"],
    [["variables", "delete", "nope"], "There is no variable nope"],
    [["jobs", "check"], "no process lives"],
  ])("%j ends with 1 and one message", async (argv, message) => {
    const { code, out, notes } = await millrace(...argv);
    expect({ code, out }).toEqual({ code: 1, out: "" });
    expect(notes).toContain(message);
  });
});

describe("tasks", () => {
  test("list and states-for-dag-run show them", async () => {
    expect(await json("tasks", "list", "hello")).toMatchObject([
      { task_id: "greet", upstream: [] },
      { task_id: "say", upstream: ["greet"] },
    ]);
    const states = await json("tasks", "states-for-dag-run", "hello", "mine");
    expect(states.map((row) => [row["task_id"], row["state"]])).toEqual([
      ["greet", "none"],
      ["say", "none"],
    ]);
    expect((await millrace("tasks", "state", "hello", "greet", "mine")).out).toBe("none\n");
  });

  test("logs prints the lines of a try for people, or as they are", async () => {
    const key = { dagId: "hello", runId: "mine", taskId: "say", mapIndex: -1, tryNumber: 2 };
    const path = attemptLogPath(join(dir, "logs"), key);
    const line = JSON.stringify({ timestamp: "2026-01-31T00:00:00Z", level: "info", logger: "task", event: "hi" });
    await mkdir(dirname(path), { recursive: true });
    await writeFile(path, `${line}\nno json`);
    const argv = ["tasks", "logs", "hello", "say", "mine", "--try", "2"];
    expect((await millrace(...argv)).out).toBe("2026-01-31T00:00:00Z INFO  hi\nno json\n");
    expect((await millrace(...argv, "--json")).out).toBe(`${line}\nno json\n`);
  });
});

test("pools are set, listed and deleted", async () => {
  expect((await millrace("pools", "set", "gpu", "4", "one per card")).out).toBe("gpu has 4 slots\n");
  expect((await millrace("pools", "set", "gpu", "-1")).out).toBe("gpu has unlimited slots\n");
  expect(await json("pools", "get", "gpu")).toMatchObject([{ pool: "gpu", slots: -1, description: "one per card" }]);
  expect((await json("pools", "list")).map((pool) => pool["pool"])).toEqual(["default_pool", "gpu"]);
  expect((await millrace("pools", "delete", "gpu")).code).toBe(0);
  expect(await json("pools", "list")).toHaveLength(1);
});

test("variables are set, read and deleted; the list covers their values", async () => {
  await millrace("variables", "set", "region", "eu", "--description", "where");
  expect((await millrace("variables", "get", "region")).out).toBe("eu\n");
  expect(await json("variables", "list")).toEqual([{ key: "region", description: "where", is_encrypted: false }]);
  expect(await json("variables", "list", "--show-values")).toMatchObject([{ value: "eu" }]);
  expect((await millrace("variables", "delete", "region")).code).toBe(0);
  expect((await millrace("variables", "get", "region", "-d", "us")).out).toBe("us\n");
});

test("db check and migrate find nothing to do on a migrated database", async () => {
  expect(await millrace("db", "check")).toMatchObject({ code: 0 });
  expect(await millrace("db", "migrate")).toMatchObject({ code: 0, out: "the schema is up to date\n" });
});
