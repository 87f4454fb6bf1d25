import { describe, expect, test } from "vitest";
import { Dag, getClient, getContext } from "../index.ts";
import { defineTrigger, endTask, type TriggerContext } from "../triggers/index.ts";
import { FakeHost, runTrigger } from "./fake-host.ts";

const dag = new Dag("with_triggers");
const waits = dag.task("waits", () => true)();
dag.task("silent", () => 1, { doXcomPush: false })();
const other = dag.task("other", () => 1)();
const decides = dag.task("decides", () => true)();
dag.if(decides).then(other).else(waits);

let count = 0;

/** Defines a trigger and runs it for a task. */
function fire(
  run: (kwargs: never, context: TriggerContext) => unknown,
  taskId = "waits",
  options: Parameters<typeof runTrigger>[3] = {},
) {
  const make = defineTrigger({ name: `own_${++count}`, run: run as (kwargs: { a?: number }) => unknown });
  return runTrigger(dag, taskId, make({ a: 1 }).spec, options);
}

describe("a trigger of one's own", () => {
  test("gets its kwargs, the attempt, a client and the task's log, and gives its event", async () => {
    const host = new FakeHost();
    host.variables.set("region", "eu");
    const run = async (kwargs: { a: number }, { task, client, log, signal }: TriggerContext) => {
      log("info", `waits for ${task.runId}`);
      expect(getContext().taskId).toBe("waits");
      expect(await getClient().getVariable("region")).toBe("eu");
      return { kwargs, region: await client.getVariable("region"), aborted: signal.aborted };
    };
    expect(await fire(run, "waits", { host })).toEqual({
      kind: "event",
      payload: { kwargs: { a: 1 }, region: "eu", aborted: false },
    });
    expect(host.lines[0]?.message).toBe("waits for scheduled__2026-01-01T00:00:00+00:00");
  });

  test("has the payload null when it gives nothing", async () => {
    expect(await fire(async () => {})).toEqual({ kind: "event", payload: null });
  });

  test("may yield its event, and is closed after the first", async () => {
    let isClosed = false;
    const events = async function* () {
      try {
        yield 1;
        yield 2;
      } finally {
        isClosed = true;
      }
    };
    expect(await fire(events)).toEqual({ kind: "event", payload: 1 });
    expect(isClosed).toBe(true);
    expect(await fire(async function* () {})).toMatchObject({
      kind: "failed",
      error: { message: expect.stringMatching(/^trigger "own_\d+" ended without an event$/) },
    });
  });

  test("may end its task without a worker", async () => {
    expect(await fire(() => endTask.success({ rows: 3 }))).toEqual({
      kind: "end",
      state: "success",
      value: { rows: 3 },
    });
    expect(await fire(() => endTask.success(3), "silent")).toEqual({ kind: "end", state: "success" });
    expect(await fire(() => endTask.skipped("no data"))).toEqual({ kind: "end", state: "skipped", message: "no data" });
    expect(await fire(() => endTask.failed("gone", { retryable: false }))).toEqual({
      kind: "end",
      state: "failed",
      message: "gone",
      retryable: false,
    });
    expect(await fire(() => endTask.success(true), "decides")).toMatchObject({
      kind: "failed",
      error: { message: expect.stringContaining('cannot end task "decides", which decides a branch') },
    });
  });

  test("fails, and never rejects, for what it throws and for what cannot be stored", async () => {
    const thrown = await fire(() => {
      throw new RangeError("too far");
    });
    expect(thrown).toMatchObject({ kind: "failed", error: { name: "RangeError", message: "too far" } });
    expect(await fire(() => ({ at: new Date() }))).toMatchObject({
      kind: "failed",
      error: { message: expect.stringMatching(/^trigger "own_\d+": the event cannot be stored: \$\.at is a Date/) },
    });
    expect(await fire(() => "x".repeat(100), "waits", { maxXComBytes: 50 })).toMatchObject({
      error: {
        message: expect.stringMatching(
          /^trigger "own_\d+": the event cannot be stored: \$ is 100 characters.* 50 bytes/,
        ),
      },
    });
    expect(await fire(() => "x".repeat(1024 * 1024))).toMatchObject({
      error: { message: expect.stringContaining("is 1048578 bytes of JSON, and the limit is 1048576") },
    });
  });

  test("ends when nobody waits any more, also when it does not listen", async () => {
    const host = new FakeHost();
    const end = fire(() => new Promise(() => {}), "waits", { host });
    host.controller.abort(new Error("cleared"));
    expect(await end).toMatchObject({ kind: "failed", error: { message: "cleared" } });
    expect(await fire(() => 1, "waits", { host })).toMatchObject({ kind: "failed", error: { message: "cleared" } });
  });

  test("is named with those that the file has when it is not among them", async () => {
    expect(await runTrigger(dag, "waits", { name: "gone", kwargs: {} })).toMatchObject({
      kind: "failed",
      error: {
        name: "TriggerNotFound",
        message: expect.stringMatching(/^the file of DAG "with_triggers" has no trigger "gone"; it defines "own_1", /),
      },
    });
    expect(await runTrigger(dag, "nowhere", { name: "gone", kwargs: {} })).toMatchObject({
      error: { message: 'trigger "gone": DAG "with_triggers" has no task "nowhere"' },
    });
    expect(await runTrigger(dag, "waits", { name: "sensor.poke", kwargs: {} })).toMatchObject({
      error: { message: 'task "waits" is no sensor that pokes in a triggerer' },
    });
  });
});

describe("defining a trigger", () => {
  test("refuses names that are taken, reserved or not valid", () => {
    defineTrigger({ name: "twice", run: () => 1 });
    expect(() => defineTrigger({ name: "twice", run: () => 1 })).toThrow('the trigger "twice" is defined twice');
    expect(() => defineTrigger({ name: "millrace.own", run: () => 1 })).toThrow('begins with "millrace."');
    expect(() => defineTrigger({ name: "sensor.own", run: () => 1 })).toThrow('begins with "sensor."');
    expect(() => defineTrigger({ name: "a b", run: () => 1 })).toThrow('the name "a b" is not valid');
  });

  test("makes triggers for a queue, with kwargs that have to be JSON", () => {
    const make = defineTrigger({ name: "queued", queue: "gpu", run: ({ a }: { a: unknown }) => String(a) });
    expect(make({ a: 1 }).spec).toEqual({ name: "queued", kwargs: { a: 1 }, queue: "gpu" });
    expect(make({ a: 1 }).onQueue("cpu").spec.queue).toBe("cpu");
    expect(make({ a: { at: new Date() } }).problem).toMatch(
      /^trigger "queued": kwarg "a" cannot be stored: \$\.at is a Date/,
    );
  });
});
