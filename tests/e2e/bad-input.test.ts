import { readFile, rm, writeFile } from "node:fs/promises";
import { join } from "node:path";
import { testDatabase, testRedisUrl, waitUntil } from "@millrace/testkit";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
let fleet: Fleet;

beforeAll(async () => {
  fleet = await openFleet(database, redisUrl, database.url, {
    MILLRACE__WORKERS__CHILD_HEAP_MB: "128",
    MILLRACE__CORE__KILLED_TASK_CLEANUP_TIME: "1",
    MILLRACE__CORE__UNPAUSED_AT_CREATION: "",
  });
  await fleet.start(["dag-processor"]);
  await waitUntil(async () => (await fleet.query("select from dag where dag_id = 'bad'")).length === 1, {
    what: "the DAG is read",
    timeoutMs: 30_000,
  });
  await fleet.query("update dag set is_paused = true where dag_id in ('hello', 'weather')");
  await Promise.all([fleet.start(["scheduler"]), fleet.start(["worker"])]);
}, 120_000);

afterAll(async () => {
  await fleet.close();
});

describe("handlers that go wrong", { timeout: 120_000 }, () => {
  it("fail with a message that says what and where, and harm no other task", async () => {
    await fleet.command(["dags", "trigger", "bad", "-r", "bad_1"]);
    const { state, tasks } = await fleet.ended("bad", "bad_1", 90_000);
    expect(state).toBe("failed");
    const { good, ...others } = tasks;
    expect(good).toBe("success");
    expect(new Set(Object.values(others))).toEqual(new Set(["failed"]));

    const logOf = async (taskId: string) =>
      await readFile(join(fleet.folder, "logs/dag_id=bad/run_id=bad_1", `task_id=${taskId}`, "attempt=1.log"), "utf8");
    expect(await logOf("symbol")).toMatch(/\$\.rows\[0\]\.amount.*symbol/);
    expect(await logOf("zero_byte")).toMatch(/U\+0000/);
    expect(await logOf("too_big")).toMatch(/MiB|bytes/);
    expect(await logOf("cyclic")).toMatch(/\$\.self/);
    expect(await logOf("not_a_number")).toMatch(/NaN/);
    expect(await logOf("throws")).toMatch(/thrown on purpose[^]*bad\.ts:\d+:\d+/);
    expect(await logOf("exits")).toMatch(/exit code 3/);
    expect(await logOf("killed")).toMatch(/SIGKILL/);
    expect(await logOf("out_of_memory")).toMatch(/heap is full|SIGABRT|memory/);
    expect(await logOf("too_long")).toMatch(/executionTimeout of 1 s/);
    expect(await logOf("blocks_the_loop")).toMatch(/executionTimeout of 1 s/);
  });

  it("leave a worker that goes on with the next run", async () => {
    await fleet.command(["dags", "trigger", "queues", "-r", "after_bad"]).catch(() => undefined);
    await fleet.command(["dags", "trigger", "retries_pools", "-r", "after_bad"]);
    expect((await fleet.ended("retries_pools", "after_bad")).state).toBe("success");
  });
});

describe("a DAG file with an error", { timeout: 60_000 }, () => {
  const errorOf = async (file: string) =>
    (await fleet.query<{ stacktrace: string }>("select stacktrace from import_error where filename = $1", [file]))[0]
      ?.stacktrace;

  it.each([
    ["throws.ts", "\nthrow new Error('at the top');\n", /at the top[^]*throws\.ts:2:/],
    ["syntax.ts", "const x = ;\n", /syntax\.ts:1:/],
    [
      "cycle.ts",
      "import { Dag } from '@millrace/sdk';\nconst d = new Dag('cycle');\nconst a = d.task('a', () => 1)();\nconst b = d.task('b', () => 1)();\na.before(b);\nb.before(a);\n",
      /cycle/,
    ],
    ["exits.ts", "process.exit(0);\n", /process\.exit/],
  ])("is shown with its place: %s", async (file, text, expected) => {
    const path = join(fleet.folder, "dags", file);
    await writeFile(path, text);
    const shown = await waitUntil(async () => await errorOf(file), {
      what: `the error of ${file} is recorded`,
      timeoutMs: 20_000,
    });
    expect(shown).toMatch(expected);
    await rm(path);
    await waitUntil(async () => (await errorOf(file)) === undefined, {
      what: `the error of ${file} is gone`,
      timeoutMs: 20_000,
    });
  });
});
