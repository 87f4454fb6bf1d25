// Operators on real processes, against a server, a database and shells that are really there. In place of a container
// engine stands a program that keeps containers as files and runs their commands as processes.
import { readFile, rm } from "node:fs/promises";
import { readFileSync } from "node:fs";
import { createServer, type RequestListener } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { testDatabase, testRedisUrl, waitUntil, type MillraceProcess } from "@millrace/testkit";
import { standInEngine, type StandInEngine } from "@millrace/testkit/stand-in-engine";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();

let fleet: Fleet;
let worker: MillraceProcess;
let engine: StandInEngine;
let url = "";
const asked: string[] = [];
/** Of requests that nobody waits for any more. */
let abandoned = 0;
const answer: RequestListener = (request, response) => {
  const path = request.url ?? "";
  asked.push(path);
  response.on("close", () => (abandoned += response.writableEnded ? 0 : 1));
  if (path === "/hangs") return;
  const times = asked.filter((other) => other === path).length;
  if (path === "/busy" && times === 1) return void response.writeHead(429, { "retry-after": "0" }).end();
  if (path === "/broken") return void response.writeHead(500).end("out of order");
  if (path === "/refused") return void response.writeHead(404).end("no such thing");
  response.end('{"version": "9.9"}');
};
const server = createServer(answer);

beforeAll(async () => {
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  engine = await standInEngine();
  fleet = await openFleet(database, redisUrl, database.url, {
    PATH: `${engine.folder}:${process.env["PATH"] ?? ""}`,
    MILLRACE__WORKERS__CONCURRENCY: "8",
    MILLRACE_VAR_DEPLOY_TOKEN: "hunter2-hunter2",
  });
  await fleet.start(["dag-processor"]);
  await waitUntil(async () => (await fleet.query("select from dag where dag_id like 'operators%'")).length === 6, {
    what: "every DAG is read",
    timeoutMs: 60_000,
  });
  await fleet.query("update dag set is_paused = true where dag_id not like 'operators%'");
  [worker] = await Promise.all([fleet.start(["worker"]), fleet.start(["scheduler"]), fleet.start(["triggerer"])]);
}, 180_000);

afterAll(async () => {
  await fleet.close();
  server.closeAllConnections();
  server.close();
  await engine[Symbol.asyncDispose]();
});

const begin = async (dagId: string, runId: string, conf: object = {}): Promise<void> => {
  const given = JSON.stringify({ url, folder: fleet.folder, ...conf });
  await fleet.command(["dags", "trigger", dagId, "-r", runId, "-l", "2026-01-31", "-c", given]);
};
const value = async (runId: string, taskId: string): Promise<unknown> =>
  (
    await fleet.query<{ value: unknown }>(
      "select value from xcom where run_id = $1 and task_id = $2 and key = 'return_value'",
      [runId, taskId],
    )
  )[0]?.value;
const logOf = async (dagId: string, runId: string, taskId: string): Promise<string> =>
  await readFile(join(fleet.folder, `logs/dag_id=${dagId}/run_id=${runId}/task_id=${taskId}/attempt=1.log`), "utf8");
/** What Millrace itself says of the end. */
const reasonOf = async (dagId: string, runId: string, taskId: string): Promise<string> =>
  (await logOf(dagId, runId, taskId))
    .trim()
    .split("\n")
    .map((line) => (JSON.parse(line) as { readonly event: string }).event)
    .join("\n");

describe("the example", { timeout: 90_000 }, () => {
  it("runs each operator, and each has what the one before it made", async () => {
    await begin("operators", "example", { url: `${url}/version`, container: true });
    const { state, tasks } = await fleet.ended("operators", "example");
    expect({ state, tasks }).toEqual({
      state: "success",
      tasks: {
        version: "success",
        words: "success",
        rows: "success",
        how_many: "success",
        few: "success",
        many: "skipped",
        container_wanted: "success",
        in_container: "success",
        newest: "success",
        done: "success",
      },
    });
    expect(await value("example", "rows")).toEqual(
      [1, 2, 3].map((n) => ({ n, words: "on 2026-01-31 version 9.9 answered" })),
    );
    expect(await value("example", "in_container")).toBe("hello on 2026-01-31 from Linux");
    expect(await engine.calls()).toContainEqual(
      expect.stringMatching(
        /^run --rm --name millrace-\w+ --pull missing .*--env GREETING --network none busybox:1.37 sh -c/,
      ),
    );
    expect(await engine.containers()).toEqual([]);
  });

  it("keeps what the templates made, and shows it to people", async () => {
    const lines = await fleet.command(["tasks", "render", "operators", "rows", "example", "-o", "json"]);
    const fields = JSON.parse(lines.filter((line) => !line.startsWith("as the last try")).join("")) as object[];
    expect(fields).toEqual([
      { field: "connectionId", value: "weather_db" },
      { field: "sql", value: expect.stringContaining("generate_series(1, $1") as string },
      { field: "params", value: ["3", "on 2026-01-31 version 9.9 answered"] },
    ]);
  });
});

describe("http", { timeout: 90_000 }, () => {
  it("asks again where that can help, within a try and over tries, and not where it is refused", async () => {
    await begin("operators_http", "http");
    const { tasks } = await fleet.ended("operators_http", "http");
    expect(tasks).toEqual({ busy: "success", broken: "failed", refused: "failed", gone: "failed" });
    const times = (path: string) => asked.filter((other) => other === path).length;
    // Two tries of two requests; one request, and no second try.
    expect({ busy: times("/busy"), broken: times("/broken"), refused: times("/refused") }).toEqual({
      busy: 2,
      broken: 4,
      refused: 1,
    });
    const tries = await fleet.query<{ task_id: string; try_number: number }>(
      "select task_id, try_number from task_instance where run_id = 'http' order by 1",
    );
    expect(Object.fromEntries(tries.map((ti) => [ti.task_id, ti.try_number]))).toEqual({
      busy: 1,
      broken: 2,
      refused: 1,
      gone: 2,
    });
    expect(await logOf("operators_http", "http", "refused")).toContain("404 no such thing");
    expect(await logOf("operators_http", "http", "gone")).toContain("ECONNREFUSED");
  });
});

it("triggerDagRun and externalTask take templates for what they start and wait for", { timeout: 90_000 }, async () => {
  // The started run has the moment of its start as its logical date, so nothing is there yet at this run's own.
  await begin("operators_others", "others");
  await waitUntil(
    async () =>
      (await fleet.query("select from dag_run where dag_id = 'operators_child' and state = 'success'")).length === 1,
    { what: "the other run has ended", timeoutMs: 60_000 },
  );
  const [child] = await fleet.query<{ run_id: string }>("select run_id from dag_run where dag_id = 'operators_child'");
  expect(await value(child?.run_id ?? "", "say")).toBe("others");
  await fleet.command(["dags", "trigger", "operators_child", "-r", "mine", "-l", "2026-01-31", "-c", '{"from": "me"}']);
  expect((await fleet.ended("operators_others", "others")).state).toBe("success");
});

describe("what is wrong", { timeout: 120_000 }, () => {
  it("fails its task with the reason, and nothing else", async () => {
    await begin("operators_bad", "bad", { evil: "x; rm -rf /" });
    const { state, tasks } = await fleet.ended("operators_bad", "bad", 90_000);
    const { good, quiet, ...others } = tasks;
    expect({ state, good, quiet }).toEqual({ state: "failed", good: "success", quiet: "success" });
    expect(new Set(Object.values(others))).toEqual(new Set(["failed"]));
    expect(await value("bad", "good")).toBe("3 20260131");
    const reasons: Readonly<Record<string, string>> = {
      no_name: 'template field "command" of task "no_name": "params.missing" is not defined',
      no_conf: 'template field "env.X" of task "no_conf": "dag_run.conf["x"]" is not defined',
      no_variable: '"var.value.nowhere" is not defined: there is no such variable',
      no_connection: '"conn.nowhere" is not defined: there is no such connection',
      no_http_connection: 'there is no connection "nowhere"',
      no_sql_connection: 'there is no connection "nowhere"',
      no_value: "is not defined",
      loops: "does it loop?",
      blows_up: "it makes a text of more than",
      escapes: "is not defined",
      code: "bash could take it for code: hand it over in env",
      syntax: "wrong syntax",
      statement: 'relation "nowhere" does not exist',
      no_dag: "operators_nowhere",
    };
    expect(Object.keys(reasons).sort()).toEqual(Object.keys(others).sort());
    for (const [task, reason] of Object.entries(reasons)) {
      expect(await reasonOf("operators_bad", "bad", task), task).toContain(reason);
    }
  });
});

describe("a task that has to stop", { timeout: 120_000 }, () => {
  const sleeping = async () =>
    (
      await fleet.query(
        "select from pg_stat_activity where query like '%of operators_long%' and state = 'active' and pid <> pg_backend_pid()",
      )
    ).length;
  const read = async (name: string): Promise<string | undefined> =>
    await readFile(join(fleet.folder, name), "utf8").catch(() => undefined);
  const pids = async (): Promise<readonly number[]> =>
    (await Promise.all(["script", "child", "grandchild"].map(read))).map((text) => Number(text?.trim() ?? 0));
  const inContainer = async (): Promise<number> => {
    const [container] = await engine.containers();
    return Number(await readFile(join(engine.folder, container ?? ""), "utf8"));
  };
  const haveBegun = async (runId: string): Promise<void> => {
    await waitUntil(
      async () =>
        (await pids()).every((pid) => pid > 0 && isAlive(pid)) &&
        (await read("contained")) !== undefined &&
        (await engine.containers()).length === 1 &&
        (await sleeping()) === 1 &&
        asked.includes("/hangs"),
      { what: `all tasks of ${runId} are at work`, timeoutMs: 60_000 },
    );
  };
  const beginLong = async (runId: string) => {
    for (const name of ["script", "child", "grandchild", "contained"])
      await rm(join(fleet.folder, name), { force: true });
    asked.length = abandoned = 0;
    await fleet.command([
      ...["dags", "trigger", "operators_long", "-r", runId],
      ...["-c", JSON.stringify({ url, folder: fleet.folder })],
    ]);
    await haveBegun(runId);
  };

  it("takes its script with all that it started, its statement, its request and its container with it", async () => {
    await beginLong("stopped");
    const started = [...(await pids()), await inContainer()];
    for (const task of ["script", "statement", "request", "contained"])
      await fleet.command(["tasks", "set-state", "operators_long", task, "stopped", "failed", "-y"]);
    expect((await fleet.ended("operators_long", "stopped")).state).toBe("failed");
    await waitUntil(async () => !started.some(isAlive) && (await sleeping()) === 0, {
      what: "all of them are gone",
      timeoutMs: 30_000,
    });
    expect(await engine.containers()).toEqual([]);
    expect(abandoned).toBe(1);
  });

  it("or whose worker is killed leaves no process, no statement and no container behind", async () => {
    await beginLong("killed");
    const started = [...(await pids()), await inContainer()];
    worker.kill("SIGKILL");
    const isGone = async () =>
      !started.some(isAlive) && (await engine.containers()).length === 0 && (await sleeping()) === 0;
    await waitUntil(isGone, {
      what: "all of them are gone",
      timeoutMs: 30_000,
    });
  });
});

/** A zombie is dead: its parent is. */
function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, "utf8"));
  } catch {
    return false;
  }
}
