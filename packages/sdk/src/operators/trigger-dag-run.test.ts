import { describe, expect, test, vi } from "vitest";
import { Dag } from "../index.ts";
import { problemsOf } from "../reading/fixtures/problems-of.ts";
import { failure, FakeHost, resumed, runRequest } from "../runtime/fake-host.ts";
import { artifact, type RunRequest } from "../runtime/index.ts";
import { externalTaskMarker, triggerDagRun, type TriggerDagRunOptions } from "./index.ts";

let count = 0;

function place(options: Partial<TriggerDagRunOptions> = {}, host = new FakeHost()) {
  const dag = new Dag(`trigger_${++count}`);
  dag.task("go", triggerDagRun({ dagId: "other", ...options }))();
  const run = (changes: Partial<RunRequest> = {}) => artifact.run(runRequest(dag.dagId, "go", changes), host);
  return { dag, host, run };
}

describe("starting a run of another DAG", () => {
  test("hands everything over, and says which run it is", async () => {
    const { host, run } = place({
      runId: (context) => `of ${context.runId}`,
      logicalDate: new Date("2026-02-01T00:00:00Z"),
      conf: { rows: [1] },
      note: "by hand",
      failWhenDagIsPaused: true,
    });
    const runId = "of scheduled__2026-01-01T00:00:00+00:00";
    expect(await run()).toEqual({ kind: "success", returnValue: { dagId: "other", runId } });
    expect(host.triggered).toEqual([
      {
        ...{ dagId: "other", runId, logicalDate: "2026-02-01T00:00:00.000Z", conf: { rows: [1] }, note: "by hand" },
        ...{ resetDagRun: false, failWhenDagIsPaused: true },
      },
    ]);
  });

  test("names the run by the attempt: a repeat finds it, the next try starts another", async () => {
    const { host, run } = place();
    const first = await run();
    expect(first).toMatchObject({
      returnValue: { runId: expect.stringMatching(/^triggered__2026-01-01T00:00:00\.000Z__[0-9a-f]{16}$/) },
    });
    expect(await run()).toEqual(first);
    host.xcoms.clear();
    // Also when it died before it could note that it had asked.
    expect(await run()).toEqual(first);
    expect([...host.runs.keys()]).toHaveLength(1);
    expect(await run({ tryNumber: 2 })).toMatchObject({ kind: "success" });
    expect([...host.runs.keys()]).toHaveLength(2);
  });

  test("fails for good, skips or clears when the run exists, and does so once in a try", async () => {
    const existing = () => {
      const host = new FakeHost();
      host.runs.set("fixed", "success");
      return host;
    };
    expect(await place({ runId: "fixed" }, existing()).run()).toMatchObject({
      kind: "failed",
      retryable: false,
      error: { name: "DagRunAlreadyExists", message: 'DAG "other" has a run "fixed" already' },
    });
    expect(await place({ runId: "fixed", skipWhenAlreadyExists: true }, existing()).run()).toMatchObject({
      kind: "skipped",
    });
    const { host, run } = place({ runId: "fixed", resetDagRun: true }, existing());
    expect(await run()).toMatchObject({ kind: "success" });
    expect(host.runs.get("fixed")).toBe("queued");
    await run();
    expect(host.triggered).toHaveLength(1);
  });
});

describe("waiting for the run", () => {
  test("needs no worker unless told otherwise", async () => {
    const { run } = place({ runId: "r", waitForCompletion: true, pokeInterval: 5 });
    const deferred = await run();
    expect(deferred).toEqual({
      kind: "deferred",
      trigger: {
        name: "millrace.external_states",
        kwargs: {
          ...{ dagId: "other", runIds: ["r"], allowedStates: ["success"], failedStates: ["failed"] },
          ...{ skippedStates: [], checkExistence: false, pollSeconds: 5 },
        },
      },
      onEvent: "resume",
      state: { dagId: "other", runId: "r" },
    });
    const state = { dagId: "other", runId: "r" };
    const event = (outcome: string, found: string) =>
      resumed(
        { kind: "event", payload: { outcome, states: [{ runId: "r", taskId: null, mapIndex: -1, state: found }] } },
        state,
      );
    expect(await run(event("allowed", "success"))).toEqual({ kind: "success", returnValue: state });
    expect(await failure(run(event("failed", "failed")))).toBe(
      'ExternalTaskFailed: the run "r" of DAG "other" is failed',
    );
  });

  test("can be done in the worker", async () => {
    vi.useFakeTimers();
    try {
      const { host, run } = place({ runId: "r", waitForCompletion: true, deferrable: false });
      const end = run();
      await vi.advanceTimersByTimeAsync(59_000);
      host.runs.set("r", "success");
      await vi.advanceTimersByTimeAsync(1_000);
      expect(await end).toMatchObject({ kind: "success" });
      host.runs.set("r", "failed");
      expect(await failure(run())).toContain('the run "r" of DAG "other" is failed');
    } finally {
      vi.useRealTimers();
    }
  });
});

test("dag.triggerDagRun takes upstream values into its conf", async () => {
  const dag = new Dag("trigger_conf");
  const load = dag.task("load", () => ({ rows: 3 }))();
  const go = dag.triggerDagRun({ taskId: "go", dagId: "other", conf: { rows: load.get("rows"), day: "monday" } });
  dag
    .task("last", () => 1)()
    .after(go);
  expect(dag.spec().tasks[1]).toMatchObject({
    taskId: "go",
    operator: "trigger_dag_run",
    upstream: ["load"],
    inputs: { "@conf.rows": { kind: "xcom", taskId: "load", path: ["rows"] } },
  });
  const host = new FakeHost();
  await artifact.run(runRequest(dag.dagId, "go", { inputs: { "@conf.rows": 3 } }), host);
  expect(host.triggered[0]?.conf).toEqual({ rows: 3, day: "monday" });
});

test.each<[object, string]>([
  [{ dagId: "not valid" }, 'dagId must be an id, got "not valid"'],
  [{ conf: { at: new Date() } }, "conf cannot be stored: $.at is a Date"],
  [{ pokeInterval: 0 }, "pokeInterval must be a number of seconds, positive, got 0"],
  [{ allowedStates: ["done"] }, "allowedStates must be an array of queued, running, success, failed"],
  [{ waitForCompletition: true }, 'unknown option "waitForCompletition"; did you mean "waitForCompletion"?'],
])("what is wrong is reported when the DAG is read (%#)", (options, problem) => {
  expect(problemsOf(place(options).dag)).toEqual([expect.stringContaining(`task "go": ${problem}`)]);
});

test("a marker says which task of another DAG waits for it", () => {
  const dag = new Dag("marker");
  dag.task("mark", externalTaskMarker({ dagId: "child", taskId: "wait" }))();
  expect(dag.spec().tasks[0]).toMatchObject({
    operator: "external_task_marker",
    externalTaskMarker: { dagId: "child", taskId: "wait", recursionDepth: 10 },
  });
  const wrong = new Dag("marker_wrong");
  wrong.task("mark", externalTaskMarker({ dagId: "child", taskId: "wait", recursionDepth: 0 }))();
  expect(problemsOf(wrong)).toEqual([expect.stringContaining("recursionDepth must be an integer between 1 and")]);
});
