// Explain and the operations on history from the command line, on a DAG that was read and a run that nobody serves.
import { mkdtemp, rm, writeFile } from "node:fs/promises";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DagProcessor } from "@millrace/scheduler/dag-processor";
import { loadConfig } from "@millrace/shared/config";
import { Database, deferAttempts } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import { openBroker } from "@millrace/shared/queue";
import { testDatabase, testRedisUrl, waitUntil } from "@millrace/testkit";
import { afterAll, beforeAll, beforeEach, describe, expect, test } from "vitest";
import { captureIo } from "../fixtures/capture-io.ts";
import { runCli } from "../run-cli.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
const log = createLogger({ level: "silent", name: "test" });
let dir = "";
let db: Database;
let answer: string | undefined;
const asked: string[] = [];

let broker: Record<string, string> = {};
const millrace = async (...argv: string[]) => {
  const { io, captured } = captureIo({ MILLRACE__DATABASE__URL: database.url, ...broker });
  const ask = async (question: string) => {
    asked.push(question);
    return await Promise.resolve(answer ?? "");
  };
  const code = await runCli(argv, answer === undefined ? io : { ...io, ask });
  return { code, ...captured() };
};

const TASKS = ["greet", "say", "wave"];
const states = async (run = "r1") =>
  (
    await db.read<{ state: string }>(
      "select coalesce(state, 'none') as state from task_instance where run_id = $1 order by array_position($2, task_id::text)",
      [run, TASKS],
    )
  ).map((row) => row.state);
/** Moves tasks along legal edges by hand, as the processes would. */
const move = async (task: string, ...to: (string | null)[]) => {
  for (const state of to) {
    await db.read("update task_instance set state = $2, epoch = epoch + 1, try_number = 1 where task_id = $1", [
      task,
      state,
    ]);
  }
};

beforeAll(async () => {
  dir = await mkdtemp(join(tmpdir(), "millrace-operate-"));
  await writeFile(
    join(dir, "hello.ts"),
    `import { Dag } from "@millrace/sdk";
const dag = new Dag("hello", { isPausedUponCreation: false });
const greet = dag.task("greet", () => "hi")();
const say = dag.task("say", ({ text }: { text: string }) => text, { pool: "small" })({ text: greet });
dag.task("wave", ({ text }: { text: string }) => text)({ text: say });
`,
  );
  db = new Database({ url: database.url, applicationName: "test", maxConnections: 2, maxRetries: 2, log });
});
beforeEach(async () => {
  await database.reset();
  answer = undefined;
  asked.length = 0;
  await db.read("insert into slot_pool (pool, slots) values ('small', 0)");
  const config = loadConfig({ env: {}, overrides: { "core.dags_folder": dir, "database.url": database.url } });
  await new DagProcessor({ db, config, log }).processOnce();
  await millrace("dags", "trigger", "hello", "-r", "r1");
  await db.read("update dag_run set state = 'running', start_date = now()");
});
afterAll(async () => {
  await db.close();
  await rm(dir, { recursive: true, force: true });
});

describe("explain", () => {
  test("says what a task waits for, for people and for programs", async () => {
    await move("greet", "success");
    await move("say", "scheduled");
    const { code, out } = await millrace("explain", "hello", "r1", "say");
    expect(code).toBe(0);
    expect(out).toMatch(/^say of hello is scheduled since \d{4}-/);
    expect(out).toContain("  it needs 1 slots of pool small, which has 0: it can never run\n");
    expect(out).toContain("  no scheduler lives\n");
    const [found] = JSON.parse((await millrace("explain", "hello", "r1", "say", "-o", "json")).out) as unknown[];
    expect(found).toMatchObject({
      run_id: "r1",
      task_id: "say",
      state: "scheduled",
      earliest: null,
      conditions: [
        { kind: "pool_too_small", pool: "small", of: 0, needs: 1, text: expect.stringContaining("never") as unknown },
        { kind: "no_live_scheduler" },
      ],
      holders: [],
    });
  });

  test("of a run lists its tasks with their reasons", async () => {
    const { out } = await millrace("explain", "hello", "r1");
    expect(out).toMatch(/^run r1 of hello is running since .*\n {2}it runs: 3 none\n/);
    expect(out).toMatch(/say +none .*trigger rule all_success: greet is none/);
    const [found] = JSON.parse((await millrace("explain", "hello", "r1", "-o", "json")).out) as { tasks: unknown[] }[];
    expect(found?.tasks).toHaveLength(3);
  });

  test("of what is not there ends with 1", async () => {
    expect(await millrace("explain", "hello", "nope")).toMatchObject({ code: 1 });
    expect((await millrace("explain", "hello", "r1", "nope")).notes).toContain("has no task nope in run r1");
  });
});

describe("versions of a DAG", () => {
  test("are listed, and each has its source", async () => {
    await db.read(`insert into dag_version (id, dag_id, version_number, artifact_hash, bundle_version)
      select gen_random_uuid(), 'hello', 2, artifact_hash, '0123456789abcdef' from dag_version`);
    await db.read(`insert into dag_code (id, dag_id, fileloc, source_code, source_code_hash, dag_version_id)
      select gen_random_uuid(), 'hello', '/dags/hello.ts', 'newer', 'h', id from dag_version where version_number = 2`);
    const listed = JSON.parse((await millrace("dags", "versions", "hello", "-o", "json")).out) as unknown;
    expect(listed).toMatchObject([
      { version: 2, commit: "0123456789abcdef" },
      { version: 1, commit: null },
    ]);
    expect((await millrace("dags", "versions", "hello", "--limit", "1")).notes).toContain("1 of 2 versions");
    expect((await millrace("dags", "source", "hello")).out).toBe("newer");
    expect((await millrace("dags", "source", "hello", "--version-number", "1")).out).toContain('new Dag("hello"');
    expect(await millrace("dags", "source", "hello", "--version-number", "3")).toMatchObject({ code: 1, out: "" });
  });
});

describe("tasks clear", () => {
  beforeEach(async () => {
    await move("greet", "success");
    await move("say", "failed");
    await move("wave", "upstream_failed");
  });

  test("lists what it clears, clears it without asking a script, and tells how much", async () => {
    const { code, out, notes } = await millrace("tasks", "clear", "hello", "-r", "r1", "--only-failed");
    expect({ code, notes }).toEqual({ code: 0, notes: "clear: 2 task instances\n" });
    expect(out).toMatch(/^run id .*\nr1 +say +- +failed +1\nr1 +wave/);
    expect(await states()).toEqual(["success", "none", "none"]);
  });

  test("asks at a terminal, and clears nothing unless the answer is yes", async () => {
    answer = "";
    expect(await millrace("tasks", "clear", "hello", "say")).toMatchObject({ code: 1 });
    expect(asked).toEqual(["clear 1 task instance? [y/N] "]);
    expect(await states()).toEqual(["success", "failed", "upstream_failed"]);
    answer = "y";
    expect(await millrace("tasks", "clear", "hello", "say")).toMatchObject({ code: 0 });
    expect(await states()).toEqual(["success", "none", "upstream_failed"]);
    await millrace("tasks", "clear", "hello", "-t", "^w", "-y");
    expect(asked).toHaveLength(2);
    expect(await states()).toEqual(["success", "none", "none"]);
  });

  test("with --dry-run only lists; with -u and -d it reaches further", async () => {
    const { out } = await millrace("tasks", "clear", "hello", "say", "-u", "-d", "--dry-run");
    expect(out.split("\n").filter((line) => line.startsWith("r1"))).toHaveLength(3);
    expect(await states()).toEqual(["success", "failed", "upstream_failed"]);
  });

  test.each([
    [["tasks", "clear", "nope"], 1],
    [["tasks", "clear", "hello", "nope"], 1],
    [["tasks", "clear", "hello", "-r", "nope"], 1],
    [["tasks", "clear", "hello", "-t", "("], 2],
    [["tasks", "clear", "hello", "--past"], 2],
    [["tasks", "clear", "hello", "-r", "r1", "-s", "2026-01-01"], 2],
    [["tasks", "set-state", "hello", "say", "r1", "running"], 2],
    [["dags", "set-run-state", "hello", "r1", "running"], 2],
  ])("%j ends with %i", async (argv, code) => {
    expect((await millrace(...argv)).code).toBe(code);
    expect(await states()).toEqual(["success", "failed", "upstream_failed"]);
  });

  test("set-state marks a task and clears what failed behind it", async () => {
    const { notes } = await millrace("tasks", "set-state", "hello", "say", "r1", "success");
    expect(notes).toBe("set success: 1 task instance\n");
    expect(await states()).toEqual(["success", "success", "none"]);
    await millrace("tasks", "set-state", "hello", "greet", "r1", "skipped", "-d");
    expect(await states()).toEqual(["skipped", "skipped", "skipped"]);
  });
});

test("stop and restart are about what runs", async () => {
  await move("greet", "scheduled", "queued", "running");
  const { notes } = await millrace("tasks", "restart", "hello");
  expect(notes).toBe("restart: 1 task instance, 1 of which a worker has to stop first\n");
  expect(await states()).toEqual(["restarting", "none", "none"]);
  await millrace("tasks", "stop", "hello", "greet", "say", "-r", "r1");
  expect(await states()).toEqual(["shutdown", "none", "none"]);
  expect(await db.read("select mark from task_instance where mark is not null")).toEqual([{ mark: "failed" }]);
});

test("a run is set failed, queued again, and deleted once it does not run", async () => {
  expect((await millrace("dags", "delete-run", "hello", "r1")).notes).toContain("is running and cannot be deleted");
  expect((await millrace("dags", "set-run-state", "hello", "r1", "failed")).notes).toBe("r1 is set failed\n");
  expect(await states()).toEqual(["skipped", "skipped", "skipped"]);
  await millrace("dags", "set-run-state", "hello", "r1", "queued");
  expect((await millrace("dags", "state", "hello", "r1")).out).toBe("queued\n");
  answer = "no";
  await millrace("dags", "delete-run", "hello", "r1");
  expect(asked).toEqual(["Delete run r1 of hello with all its tasks? [y/N] "]);
  answer = "yes";
  expect(await millrace("dags", "delete-run", "hello", "r1")).toMatchObject({ code: 0, notes: "r1 is deleted\n" });
  expect((await millrace("dags", "state", "hello", "r1")).code).toBe(1);
});

test("queue rebuild sends whatever is queued again", async () => {
  broker = { MILLRACE__BROKER__URL: redisUrl, MILLRACE__BROKER__PREFIX: "rebuild" };
  expect((await millrace("queue", "rebuild")).out).toBe("nothing is queued\n");
  await move("greet", "scheduled", "queued");
  expect(await millrace("queue", "rebuild")).toMatchObject({ code: 0, out: "default: 1 sent\n" });
  const door = openBroker({ url: redisUrl, prefix: "rebuild", databaseUrl: database.url, log });
  const taken: string[] = [];
  const consumer = door.consume({
    queues: ["default"],
    concurrency: 1,
    handle: ({ id }) => Promise.resolve(void taken.push(id)),
  });
  await consumer.start();
  await waitUntil(() => taken.length > 0, { what: "it arrives" });
  expect(await db.read("select id from task_instance where state = 'queued'")).toEqual([{ id: taken[0] }]);
  await consumer.stop();
  await door.close();
  broker = {};
});

describe("hitl", () => {
  const ask = async () => {
    await move("greet", "scheduled", "queued", "running");
    const [ti] = await db.read<{ id: string; epoch: number }>(
      "select id, epoch from task_instance where task_id = 'greet'",
    );
    const asked = {
      subject: "Ship it?",
      body: "All is green.",
      options: ["yes", "no"],
      defaults: ["no"],
      multiple: false,
    };
    const question = JSON.stringify({ ...asked, params: { n: { type: "integer", default: 1 } }, assignedUsers: [] });
    const wait = [["millrace.hitl"], ["{}"], [null], ["resume"], ["null"], [null], [question]] as const;
    await db.run(deferAttempts, [[ti?.id ?? ""], [ti?.epoch ?? 0], ...wait]);
  };

  test("lists what is asked, shows one question, and answers it", async () => {
    expect((await millrace("hitl", "list")).notes).toContain("nothing to list");
    await ask();
    expect((await millrace("hitl", "list", "hello")).out).toMatch(/hello\s+r1\s+greet\s+Ship it\?\s+yes \| no/);
    const shown = (await millrace("hitl", "show", "hello", "r1", "greet")).out;
    expect(shown).toContain("All is green.\n\n  ○ yes\n  ◐ no\n");
    const wrong = await millrace("hitl", "answer", "hello", "r1", "greet", "maybe", "-p", "n=x");
    expect([wrong.code, wrong.notes]).toEqual([1, expect.stringContaining("n: must be integer")]);
    const done = await millrace("hitl", "answer", "hello", "r1", "greet", "yes", "-p", "n=2");
    expect([done.code, done.out]).toEqual([0, "hello r1: greet goes on with yes\n"]);
    expect(await states()).toEqual(["scheduled", "none", "none"]);
    expect((await millrace("hitl", "list")).notes).toContain("nothing to list");
    expect((await millrace("hitl", "list", "--all")).out).toContain("yes by ");
    expect((await millrace("hitl", "answer", "hello", "r1", "greet", "no")).code).toBe(1);
    expect((await millrace("hitl", "show", "hello", "r1", "say")).notes).toContain("asks nothing");
  });
});
