import { describe, expect, test } from "vitest";
import { Dag, deferrable, waitFor, type DagSpec } from "../index.ts";
import { problemsOf } from "../reading/fixtures/problems-of.ts";
import { failure, FakeHost, resumed, runRequest } from "../runtime/fake-host.ts";
import { artifact } from "../runtime/index.ts";
import { after, fileExists, until } from "../triggers/index.ts";

let count = 0;

/** A DAG with one task, and ways to run its halves. */
function place(body: unknown) {
  const dag = new Dag(`deferrable_${++count}`);
  (dag.task as (id: string, body: unknown) => () => unknown)("only", body)();
  const run = (changes: Partial<ReturnType<typeof runRequest>> = {}) =>
    artifact.run(runRequest(dag.dagId, "only", changes), new FakeHost());
  return { dag, run, spec: (): DagSpec => dag.spec() };
}

const sizeOf = deferrable({
  start: ({ day }: { day: string }) => waitFor(fileExists({ path: day }), { state: { day }, timeout: 5 }),
  resume: (event, { day }, state) => ({ size: event.size, day, kept: state.day }),
});

describe("a task in two halves", () => {
  test("waits for its trigger with what it keeps, and resumes with both", async () => {
    const { run } = place(sizeOf);
    const begun = await run({ inputs: { day: "monday" } });
    const state = { trigger: "millrace.file", timeout: 5, state: { day: "monday" } };
    expect(begun).toEqual({
      kind: "deferred",
      trigger: { name: "millrace.file", kwargs: { path: "monday", pollSeconds: 60 } },
      onEvent: "resume",
      state,
      timeoutSeconds: 5,
    });
    const event = { kind: "event", payload: { path: "monday", size: 3, modifiedAt: "" } } as const;
    expect(await run({ inputs: { day: "monday" }, ...resumed(event, state) })).toEqual({
      kind: "success",
      returnValue: { size: 3, day: "monday", kept: "monday" },
    });
  });

  test("has a value at once when there is nothing to wait for", async () => {
    const { run } = place(deferrable({ start: async () => 7, resume: () => 8 }));
    expect(await run()).toEqual({ kind: "success", returnValue: 7 });
  });

  test("can wait again", async () => {
    const { run } = place(deferrable({ start: () => after(1), resume: (event) => until(new Date(event.at)) }));
    const at = "2026-02-01T00:00:00.000Z";
    const next = await run(resumed({ kind: "event", payload: { at } }, { trigger: "millrace.time", state: null }));
    expect(next).toMatchObject({ kind: "deferred", trigger: { name: "millrace.time", kwargs: { at } } });
  });

  test("fails with a retry when there is no event, saying which trigger had none", async () => {
    const { run } = place(sizeOf);
    const state = { trigger: "millrace.file", timeout: 5, state: { day: "monday" } };
    const late = run(resumed({ kind: "timeout" }, state));
    expect(await failure(late)).toBe('TriggerTimeout: the trigger "millrace.file" had no event within 5 s');
    const error = { name: "RangeError", message: "too far", stack: "RangeError: too far\n    at over there" };
    const broken = await run(resumed({ kind: "failed", error }, state));
    expect(broken).toMatchObject({
      kind: "failed",
      retryable: true,
      error: { name: "TriggerFailed", message: 'the trigger "millrace.file" failed: RangeError: too far' },
    });
    expect(broken.kind === "failed" && broken.error.stack).toContain(
      "Caused by: RangeError: too far\n    at over there",
    );
  });

  test("can make do without the event", async () => {
    const body = deferrable({
      start: () => waitFor(after(5), { state: "kept" }),
      resume: () => "event",
      onNoEvent: (error, _args, state) => `${error.name} ${error.trigger} ${state}`,
    });
    const { run } = place(body);
    const state = { trigger: "millrace.time", state: "kept" };
    expect(await run(resumed({ kind: "timeout" }, state))).toEqual({
      kind: "success",
      returnValue: "TriggerTimeout millrace.time kept",
    });
  });

  test("fails naming the trigger when it cannot wait for it", async () => {
    const start = (trigger: () => unknown) =>
      failure(place(deferrable({ start: trigger, resume: () => 1 } as never)).run());
    expect(await start(() => until(new Date("nonsense")))).toBe(
      'TypeError: trigger "millrace.time": at must be a valid Date, got an invalid Date',
    );
    expect(await start(() => waitFor(after(1), { timeout: 0 }))).toBe(
      'RangeError: trigger "millrace.time": timeout must be a number of seconds, positive, got 0',
    );
    expect(await start(() => waitFor(after(1), { state: { at: new Date() } }))).toContain(
      'trigger "millrace.time": the state to keep cannot be stored: $.state.at is a Date',
    );
  });
});

describe("a task that begins with its trigger", () => {
  const trigger = fileExists({ path: "/data/*.csv" }).onQueue("files");

  test("says so in the spec, and its event is its value", async () => {
    const { run, spec } = place(deferrable({ trigger, timeout: 60 }));
    const kwargs = { path: "/data/*.csv", pollSeconds: 60 };
    expect(spec().tasks[0]?.startTrigger).toEqual({
      trigger: { name: "millrace.file", kwargs, queue: "files" },
      onEvent: "end",
      timeoutSeconds: 60,
    });
    expect(await run(resumed({ kind: "event", payload: { size: 1 } }))).toEqual({
      kind: "success",
      returnValue: { size: 1 },
    });
    expect(await failure(run(resumed({ kind: "timeout" })))).toBe(
      'TriggerTimeout: the trigger "millrace.file" had no event within 60 s',
    );
    // A scheduler that does not know of such tasks gives it to a worker.
    expect(await run()).toMatchObject({ kind: "deferred", onEvent: "end", timeoutSeconds: 60 });
  });

  test("resumes when it has a second half", async () => {
    const { run, spec } = place(deferrable({ trigger, resume: (event) => event.size }));
    expect(spec().tasks[0]?.startTrigger?.onEvent).toBe("resume");
    expect(await run(resumed({ kind: "event", payload: { path: "", size: 9, modifiedAt: "" } }))).toEqual({
      kind: "success",
      returnValue: 9,
    });
  });
});

test.each<[object, string]>([
  [{ start: () => after(1), resume: () => 1, timeout: 0 }, "timeout must be a number of seconds, positive, got 0"],
  [{ start: () => after(1), resume: () => 1, timeout: -5 }, "timeout must be a number of seconds, positive, got -5"],
  [{ trigger: after(-1) }, 'trigger "millrace.time": afterSeconds must be a number of seconds, zero or more, got -1'],
  [{ resume: () => 1 }, "give exactly one of start and trigger"],
  [{ start: () => after(1) }, "start needs a resume"],
  [{ start: () => after(1), resume: () => 1, onError: 1 }, 'unknown option "onError"'],
])("what is wrong with it is reported when the DAG is read (%#)", (options, problem) => {
  const { dag } = place(deferrable(options as never));
  expect(problemsOf(dag)).toEqual([expect.stringContaining(`task "only": ${problem}`)]);
});
