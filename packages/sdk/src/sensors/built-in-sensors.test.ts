import { mkdir, mkdtemp, rm, writeFile } from "node:fs/promises";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { Dag } from "../index.ts";
import { externalTask } from "../operators/index.ts";
import { problemsOf } from "../reading/fixtures/problems-of.ts";
import { failure, FakeHost, resumed, runRequest } from "../runtime/fake-host.ts";
import { artifact, type ExternalState, type RunRequest } from "../runtime/index.ts";
import { findFile } from "./find-file.ts";
import {
  assetSensor,
  externalTaskSensor,
  fileSensor,
  httpSensor,
  sqlSensor,
  timeSensor,
  type ExternalTaskSensorOptions,
} from "./index.ts";

let count = 0;

function place(body: unknown, host = new FakeHost()) {
  const dag = new Dag(`built_in_${++count}`);
  (dag.task as (id: string, body: unknown) => () => unknown)("only", body)();
  const run = (changes: Partial<RunRequest> = {}) => artifact.run(runRequest(dag.dagId, "only", changes), host);
  return { dag, host, run };
}

describe("timeSensor", () => {
  test("is done at its moment, and leaves the waiting to a trigger that needs no worker afterwards", async () => {
    const past = new Date("2020-01-01T00:00:00Z");
    const future = new Date("2100-01-01T00:00:00Z");
    expect(await place(timeSensor({ at: past })).run()).toEqual({
      kind: "success",
      returnValue: { at: "2020-01-01T00:00:00.000Z" },
    });
    const reschedules = place(timeSensor({ at: future, mode: "reschedule", pokeInterval: 5 }));
    expect(await reschedules.run()).toEqual({ kind: "rescheduled", delaySeconds: 5 });
    expect(await place(timeSensor({ at: () => future, mode: "deferrable" })).run()).toMatchObject({
      kind: "deferred",
      trigger: { name: "millrace.time", kwargs: { at: "2100-01-01T00:00:00.000Z" } },
      onEvent: "end",
    });
    expect(problemsOf(place(timeSensor({} as never)).dag)).toEqual(['task "only": at is missing']);
  });

  test("has its own timeout when it is deferred", async () => {
    const { run } = place(timeSensor({ at: new Date("2100-01-01"), mode: "deferrable", timeout: 100 }));
    const deferred = await run({ waited: { seconds: 40, reschedules: 0 } });
    expect(deferred.kind === "deferred" && Math.round(deferred.timeoutSeconds ?? 0)).toBe(60);
    expect(await run(resumed({ kind: "timeout" }, null, 101))).toMatchObject({
      retryable: false,
      error: { name: "SensorTimeout" },
    });
  });
});

describe("fileSensor", () => {
  let folder: string;
  beforeAll(async () => {
    folder = await mkdtemp(join(tmpdir(), "millrace-find-"));
    await mkdir(join(folder, "2026", "01"), { recursive: true });
    await writeFile(join(folder, "2026", "01", "a1.csv"), "12345");
    await writeFile(join(folder, "2026", "01", ".hidden.csv"), "");
  });
  afterAll(() => rm(folder, { recursive: true }));

  test.each([
    ["2026/01/a1.csv", true],
    ["2026/01/a2.csv", false],
    ["nowhere/*/a", false],
    ["*/01/a?.csv", true],
    ["*/0[2-9]/*.csv", false],
    ["*/0[!2-9]/[ab]1.csv", true],
    ["**/*.csv", true],
    ["**/a1.csv", true],
    ["2026/01/a1.csv/b", false],
    ["2026/01/a+.csv", false],
    ["2026/**", true],
  ])("finds %s: %s", async (pattern, isThere) => {
    expect((await findFile(join(folder, pattern))) !== undefined).toBe(isThere);
  });

  test("does not take a hidden file for one that a star means", async () => {
    expect((await findFile(join(folder, "2026/01/*.csv")))?.path).toBe(join(folder, "2026/01/a1.csv"));
    expect((await findFile(join(folder, "2026/01/.*.csv")))?.path).toBe(join(folder, "2026/01/.hidden.csv"));
  });

  test("says which file it found, and else leaves the waiting to a trigger", async () => {
    const path = (_context: unknown, { day }: { day: string }) => join(folder, day, "*.csv");
    const { run } = place(fileSensor({ path, mode: "deferrable", pokeInterval: 7 }));
    expect(await run({ inputs: { day: "2026/01" } })).toMatchObject({
      kind: "success",
      returnValue: { path: join(folder, "2026/01/a1.csv"), size: 5, modifiedAt: expect.stringMatching(/^20.*Z$/) },
    });
    expect(await run({ inputs: { day: "2027/01" } })).toMatchObject({
      kind: "deferred",
      trigger: { name: "millrace.file", kwargs: { path: join(folder, "2027/01/*.csv"), pollSeconds: 7 } },
    });
  });
});

describe("httpSensor", () => {
  let server: Server;
  let url: string;
  const seen: unknown[] = [];
  beforeAll(async () => {
    server = createServer((request, response) => {
      seen.push(request.headers.authorization ?? null);
      if (request.url === "/missing") return void response.writeHead(404).end("gone");
      if (request.url === "/long") return void response.end("ä".repeat(100_000));
      if (request.url === "/hangs") return;
      response.end(JSON.stringify({ job: { state: "done", rows: [1] } }));
    });
    await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
    url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  });
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });

  const poke = (path: string, request: object = {}) =>
    place(httpSensor({ request: { url: url + path, ...request }, mode: "reschedule" })).run();

  test("is done with the answer that is wished for, and has it as its value", async () => {
    const body = { job: { state: "done", rows: [1] } };
    expect(await poke("/")).toEqual({ kind: "success", returnValue: { status: 200, body } });
    expect(await poke("/", { field: { path: ["job", "state"], equals: "done" } })).toMatchObject({ kind: "success" });
    expect(await poke("/", { field: { path: ["job", "rows"], equals: [1] } })).toMatchObject({ kind: "success" });
    expect(await poke("/", { field: { path: ["job", "state"], equals: "new" } })).toMatchObject({
      kind: "rescheduled",
    });
    expect(await poke("/", { field: { path: ["job", "nothing"] } })).toMatchObject({ kind: "rescheduled" });
    expect(await poke("/missing")).toMatchObject({ kind: "rescheduled" });
    expect(await poke("/missing", { status: [404] })).toEqual({
      kind: "success",
      returnValue: { status: 404, body: "gone" },
    });
  });

  test("keeps no more than 64 KiB, and no half characters", async () => {
    const outcome = await poke("/long");
    const value = outcome.kind === "success" ? (outcome.returnValue as { body: string }) : { body: "" };
    expect(value.body).toBe("ä".repeat(32 * 1024));
  });

  test("takes address and login from a connection", async () => {
    const { hostname, port } = new URL(url);
    const host = new FakeHost();
    host.connections.set("api", {
      ...{ connectionId: "api", connType: "http", host: hostname, port: Number(port) },
      ...{ login: "me", password: "secret" },
    });
    const { run } = place(httpSensor({ request: { connectionId: "api", path: "x" } }), host);
    expect(await run()).toMatchObject({ kind: "success" });
    expect(seen.at(-1)).toBe(`Basic ${btoa("me:secret")}`);
  });

  test("fails the poke when a request fails or takes too long", async () => {
    expect(await failure(poke("/hangs", { timeoutSeconds: 0.05 }))).toContain("TimeoutError");
    expect(await failure(place(httpSensor({ request: { url: "http://127.0.0.1:1" } })).run())).toContain(
      "fetch failed",
    );
  });

  test("defers to the trigger with what its request says, checked when the DAG is read", async () => {
    const { run } = place(httpSensor({ request: { url: `${url}/missing` }, mode: "deferrable", pokeInterval: 9 }));
    expect(await run()).toMatchObject({
      kind: "deferred",
      trigger: { name: "millrace.http", kwargs: { url: `${url}/missing`, method: "GET", pollSeconds: 9 } },
      onEvent: "end",
    });
    expect(problemsOf(place(httpSensor({ request: {} })).dag)).toEqual([
      'task "only": request: trigger "millrace.http": give exactly one of url and connectionId',
    ]);
  });
});

describe("sensors that only a triggerer can be", () => {
  test("defer at once, and refuse the other modes when the DAG is read", async () => {
    const sql = { connectionId: "db", sql: "select 1", params: () => [1] };
    expect(await place(sqlSensor(sql)).run()).toMatchObject({
      kind: "deferred",
      trigger: { name: "millrace.sql", kwargs: { connectionId: "db", sql: "select 1", params: [1], pollSeconds: 60 } },
      onEvent: "end",
      timeoutSeconds: expect.closeTo(604_800, 0),
    });
    expect(await place(assetSensor({ uri: "s3://a" })).run()).toMatchObject({
      trigger: { name: "millrace.asset_event" },
    });
    expect(problemsOf(place(sqlSensor({ ...sql, mode: "poke" as never })).dag)).toEqual([
      'task "only": mode "poke" is not possible here, because what a task runs in has no driver for it: use "deferrable", which a triggerer does',
    ]);
    expect(problemsOf(place(assetSensor({})).dag)).toEqual(['task "only": give a name, a uri, or both']);
  });
});

describe("externalTaskSensor", () => {
  const found = (state: string, taskId: string | null = null): ExternalState => ({
    runId: "r",
    taskId,
    mapIndex: -1,
    state,
  });
  const poke = (
    options: Partial<ExternalTaskSensorOptions>,
    states: readonly ExternalState[],
    waited?: RunRequest["waited"],
  ) => {
    const host = new FakeHost();
    host.externalStates = states;
    const body = externalTaskSensor({ externalDagId: "other", mode: "reschedule", ...options });
    return { host, end: place(body, host).run(waited === undefined ? {} : { waited }) };
  };

  test("asks for the same logical date, for one at a distance, or for what a function says", async () => {
    const datesOf = async (options: Partial<ExternalTaskSensorOptions>) => {
      const { host, end } = poke(options, []);
      await end;
      return host.queries[0]?.logicalDates;
    };
    expect(await datesOf({})).toEqual(["2026-01-01T00:00:00.000Z"]);
    expect(await datesOf({ executionDelta: { hours: 1 } })).toEqual(["2025-12-31T23:00:00.000Z"]);
    expect(await datesOf({ executionDateFn: (date) => [date, new Date(0)] })).toEqual([
      "2026-01-01T00:00:00.000Z",
      "1970-01-01T00:00:00.000Z",
    ]);
  });

  test("is done, fails, skips and waits as the states say", async () => {
    const options = { externalTaskIds: ["a"], failedStates: ["failed"], skippedStates: ["skipped"] };
    const { host, end } = poke({ ...options, checkExistence: true }, [found("running", "a")]);
    expect(await end).toEqual({ kind: "rescheduled", delaySeconds: 60 });
    expect(host.queries[0]).toMatchObject({ dagId: "other", taskIds: ["a"], checkExistence: true });
    expect(await poke(options, [found("success", "a")]).end).toEqual({ kind: "success" });
    expect(await poke(options, [found("failed", "a")]).end).toMatchObject({
      kind: "failed",
      retryable: true,
      error: {
        name: "ExternalTaskFailed",
        message: 'what is waited for has ended otherwise: run "r" task "a" is failed',
      },
    });
    expect(await poke({ ...options, softFail: true }, [found("failed", "a")]).end).toMatchObject({ kind: "skipped" });
    expect(await poke(options, [found("skipped", "a")]).end).toMatchObject({ kind: "skipped" });
    const later = poke({ ...options, checkExistence: true }, [], { seconds: 60, reschedules: 1 });
    await later.end;
    expect(later.host.queries[0]?.checkExistence).toBe(false);
  });

  test("leaves the waiting to a trigger as an operator, and judges its event", async () => {
    const { run } = place(externalTask({ externalDagId: "other", externalTaskGroupId: "g", failedStates: ["failed"] }));
    expect(await run()).toMatchObject({
      kind: "deferred",
      trigger: {
        name: "millrace.external_states",
        kwargs: {
          ...{ dagId: "other", taskGroupId: "g", logicalDates: ["2026-01-01T00:00:00.000Z"] },
          ...{ allowedStates: ["success"], failedStates: ["failed"], skippedStates: [], pollSeconds: 60 },
        },
      },
      onEvent: "resume",
    });
    const event = (outcome: string, state: string) =>
      run(resumed({ kind: "event", payload: { outcome, states: [{ ...found(state, "g.a") }] } }));
    expect(await event("allowed", "success")).toEqual({ kind: "success" });
    expect(await failure(event("failed", "failed"))).toContain('run "r" task "g.a" is failed');
  });

  test.each<[Partial<ExternalTaskSensorOptions>, string]>([
    [
      { externalTaskId: "a", externalTaskIds: ["b"] },
      "give at most one of externalTaskId, externalTaskIds and externalTaskGroupId",
    ],
    [
      { externalTaskIds: ["a", "a"] },
      "externalTaskIds must be an array of different task ids, not empty, got an array",
    ],
    [{ executionDelta: 1, executionDateFn: (date) => date }, "executionDelta and executionDateFn exclude each other"],
    [{ allowedStates: ["success", "failed"], failedStates: ["failed"] }, 'the state "failed" is named twice'],
    [
      { allowedStates: ["skipped"] },
      "allowedStates must be an array of states of runs (queued, running, success, failed)",
    ],
    [{ externalTaskId: "a", failedStates: ["fialed"] }, "failedStates must be an array of states of tasks"],
  ])("that is wrong is reported when the DAG is read (%#)", (options, problem) => {
    const { dag } = place(externalTaskSensor({ externalDagId: "other", ...options }));
    expect(problemsOf(dag)).toEqual([expect.stringContaining(`task "only": ${problem}`)]);
  });
});
