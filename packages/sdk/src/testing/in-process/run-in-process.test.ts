import { Dag, FailTask, getClient, getContext, SkipTask } from "../../index.ts";
import { branch, empty, shortCircuit } from "../../operators/index.ts";
import { artifact } from "../../runtime/index.ts";
import type { DagSpec, Json } from "../../spec/index.ts";
import { describe, expect, test } from "vitest";
import { MemoryStore } from "./memory-store.ts";
import { runInProcess } from "./run-in-process.ts";
import type { InProcessOptions } from "./test-run.ts";

const JANUARY = Date.parse("2026-01-31T00:00:00Z");

function specOf(dag: Dag): DagSpec {
  const reading = artifact.dags().find((candidate) => candidate.dagId === dag.dagId);
  if (reading === undefined || !("spec" in reading)) throw new Error(JSON.stringify(reading));
  return reading.spec;
}

const run = async (dag: Dag, options: Partial<InProcessOptions> = {}) => {
  const changes: string[] = [];
  const result = await runInProcess(artifact, specOf(dag), {
    logicalDate: JANUARY,
    onChange: (task) => changes.push(`${task.taskId} ${task.state}`),
    ...options,
  });
  return { ...result, changes, states: Object.fromEntries(result.tasks.map((task) => [task.taskId, task.state])) };
};

test("a run succeeds, and values travel from task to task", async () => {
  const dag = new Dag("values");
  const seen: unknown[] = [];
  const extract = dag.task("extract", () => ({ rows: [1, 2, 3], region: "eu" }))();
  dag.task(
    "load",
    (args: { rows: number[]; all: { region: string }; table: string }) => void seen.push(args),
  )({
    rows: extract.get("rows"),
    all: extract,
    table: "sales",
  });
  const { state, states, changes } = await run(dag);
  expect({ state, states }).toEqual({ state: "success", states: { extract: "success", load: "success" } });
  expect(seen).toEqual([{ rows: [1, 2, 3], all: { rows: [1, 2, 3], region: "eu" }, table: "sales" }]);
  expect(changes).toEqual([
    "extract scheduled",
    "extract running",
    "extract success",
    "load scheduled",
    "load running",
    "load success",
  ]);
});

test("a handler sees what a manual run would show it", async () => {
  const dag = new Dag("context", { schedule: "@daily", params: { region: "us", limit: 5 } });
  let seen: Record<string, unknown> = {};
  dag.task("look", () => {
    const { logicalDate, dataIntervalStart, dataIntervalEnd, params, conf, runId, tryNumber } = getContext();
    seen = { logicalDate, dataIntervalStart, dataIntervalEnd, params, conf, runId, tryNumber };
  })();
  await run(dag, { conf: { region: "eu" } });
  expect(seen).toEqual({
    logicalDate: new Date(JANUARY),
    dataIntervalStart: new Date("2026-01-30T00:00:00Z"),
    dataIntervalEnd: new Date("2026-01-31T00:00:00Z"),
    params: { region: "eu", limit: 5 },
    conf: { region: "eu" },
    runId: "manual__2026-01-31T00:00:00.000Z",
    tryNumber: 1,
  });
});

describe("a failing task", () => {
  test("fails the run, and what needs it does not run", async () => {
    const dag = new Dag("failing");
    const bad = dag.task("bad", () => {
      throw new TypeError("no such column");
    })();
    dag
      .task("after", () => {})()
      .after(bad);
    dag
      .task("cleanup", () => {}, { triggerRule: "all_done" })()
      .after(bad);
    const { state, states, verdict, tasks } = await run(dag);
    expect(states).toEqual({ bad: "failed", after: "upstream_failed", cleanup: "success" });
    expect({ state, verdict }).toEqual({
      state: "failed",
      verdict: { kind: "failed", reason: "task_failure", taskIds: ["after"] },
    });
    expect(tasks[0]?.error).toMatchObject({ name: "TypeError", message: "no such column" });
  });

  test("is tried again without waiting, and without the XComs of the try before", async () => {
    const dag = new Dag("flaky");
    const left: unknown[] = [];
    dag.task(
      "flaky",
      async () => {
        left.push(await getClient().getXCom({ key: "mark" }));
        await getClient().setXCom({ key: "mark", value: getContext().tryNumber });
        if (getContext().tryNumber < 3) throw new Error("not yet");
      },
      { retries: 2, retryDelay: 3_600 },
    )();
    const { state, tasks, changes } = await run(dag);
    expect(state).toBe("success");
    expect(tasks[0]?.tryNumber).toBe(3);
    expect(left).toEqual([undefined, undefined, undefined]);
    expect(changes.filter((change) => change === "flaky up_for_retry")).toHaveLength(2);
  });

  test("waits as long as a scheduler would when asked to", async () => {
    const dag = new Dag("patient");
    const fail = (): never => {
      throw new Error("always");
    };
    dag.task("fail", fail, { retries: 3, retryDelay: 60, retryExponentialBackoff: 2, maxRetryDelay: 200 })();
    const waits: number[] = [];
    const { states } = await run(dag, { waitForRetry: (seconds) => Promise.resolve(void waits.push(seconds)) });
    expect(states).toEqual({ fail: "failed" });
    expect(waits).toHaveLength(3);
    expect(waits[0]).toBeGreaterThanOrEqual(60);
    expect(waits[2]).toBe(200);
  });

  test("that says that trying again cannot help is not tried again", async () => {
    const dag = new Dag("hopeless");
    dag.task(
      "hopeless",
      () => {
        throw new FailTask("wrong password");
      },
      { retries: 5 },
    )();
    expect((await run(dag)).tasks[0]).toMatchObject({ state: "failed", tryNumber: 1 });
  });

  test("ends the rest of a DAG that fails fast: what runs is stopped, what waits is skipped", async () => {
    const dag = new Dag("fail_fast", { failFast: true });
    let reason: unknown;
    dag.task(
      "endless",
      async () => {
        const { signal } = getContext();
        signal.addEventListener("abort", () => (reason = signal.reason));
        await new Promise(() => {});
      },
      { retries: 3 },
    )();
    const bad = dag.task("bad", () => {
      throw new Error("bad");
    })();
    dag
      .task("later", () => {})()
      .after(bad);
    const { state, states } = await run(dag);
    expect({ state, states }).toEqual({
      state: "failed",
      states: { endless: "failed", bad: "failed", later: "skipped" },
    });
    expect(reason).toMatchObject({ message: "bad failed, and its DAG fails fast" });
  });

  test("fails when it takes longer than its executionTimeout, even if it does not listen", async () => {
    const dag = new Dag("slow");
    let reason: unknown;
    dag.task(
      "slow",
      async () => {
        const { signal } = getContext();
        signal.addEventListener("abort", () => (reason = signal.reason));
        await new Promise(() => {});
      },
      { executionTimeout: 0.02 },
    )();
    const { tasks } = await run(dag);
    expect(tasks[0]).toMatchObject({ state: "failed", error: { name: "TaskTimeout" } });
    expect(reason).toMatchObject({ name: "TaskTimeout" });
  });
});

describe("a task that decides", () => {
  test("a branch skips the arms it did not choose, and the join runs", async () => {
    const dag = new Dag("branching");
    const choose = dag.task(
      "choose",
      branch(() => "small"),
    )();
    const small = dag
      .task("small", () => {})()
      .after(choose);
    const large = dag
      .task("large", () => {})()
      .after(choose);
    dag.task("join", empty(), { triggerRule: "none_failed_min_one_success" })().after(small, large);
    const { state, states, tasks } = await run(dag);
    expect(state).toBe("success");
    expect(states).toEqual({ choose: "success", small: "success", large: "skipped", join: "success" });
    expect(tasks.find((task) => task.taskId === "large")?.reason).toBe("choose took another branch");
  });

  test("a short circuit skips everything after it, whatever the trigger rules", async () => {
    const dag = new Dag("short");
    const gate = dag.task(
      "gate",
      shortCircuit(() => false, { ignoreDownstreamTriggerRules: true }),
    )();
    const next = dag
      .task("next", () => {})()
      .after(gate);
    dag
      .task("last", () => {}, { triggerRule: "all_done" })()
      .after(next);
    const { state, states } = await run(dag);
    expect({ state, states }).toEqual({
      state: "success",
      states: { gate: "success", next: "skipped", last: "skipped" },
    });
  });

  test("a task that skips itself skips what needs it", async () => {
    const dag = new Dag("skipping");
    const skip = dag.task("skip", () => {
      throw new SkipTask("no data today");
    })();
    dag
      .task("after", () => {})()
      .after(skip);
    const { state, states, tasks } = await run(dag);
    expect({ state, states }).toEqual({ state: "success", states: { skip: "skipped", after: "skipped" } });
    expect(tasks[0]?.reason).toBe("no data today");
  });
});

test("variables and connections are looked up, and what a task sets is seen by the next one", async () => {
  const dag = new Dag("lookups");
  const seen: Json[] = [];
  const first = dag.task("first", async () => {
    const client = getClient();
    seen.push((await client.getVariable("region")) ?? null, (await client.getConnectionOrThrow("db")).host ?? null);
    await client.setVariable("region", "us");
    await client.deleteVariable("gone");
  })();
  dag
    .task("second", async () => {
      seen.push((await getClient().getVariable("region")) ?? null, (await getClient().getVariable("gone")) ?? null);
    })()
    .after(first);
  const values: Record<string, string> = { region: "eu", gone: "x" };
  const store = new MemoryStore({
    variable: (key) => values[key],
    connection: (connectionId) => ({ connectionId, connType: "postgres", host: "localhost" }),
  });
  expect((await run(dag, { store })).state).toBe("success");
  expect(seen).toEqual(["eu", "localhost", "us", null]);
  expect(values).toEqual({ region: "eu", gone: "x" });
});

test("no more tasks run at once than asked for, the weightiest first", async () => {
  const dag = new Dag("narrow");
  let atOnce = 0;
  let most = 0;
  const order: string[] = [];
  for (const [id, priorityWeight] of [
    ["light", 1],
    ["heavy", 9],
    ["middle", 5],
  ] as const) {
    dag.task(
      id,
      async () => {
        order.push(id);
        most = Math.max(most, ++atOnce);
        await Promise.resolve();
        atOnce--;
      },
      { priorityWeight },
    )();
  }
  await run(dag, { concurrency: 1 });
  expect({ most, order }).toEqual({ most: 1, order: ["heavy", "middle", "light"] });
});

test("an interrupt ends what runs and starts nothing more", async () => {
  const dag = new Dag("interrupted");
  const controller = new AbortController();
  const first = dag.task("first", async () => {
    controller.abort();
    await new Promise(() => {});
  })();
  dag
    .task("second", () => {})()
    .after(first);
  const { state, wasAborted, states } = await run(dag, { signal: controller.signal });
  expect({ state, wasAborted }).toEqual({ state: "failed", wasAborted: true });
  expect(states).toEqual({ first: "failed", second: "none" });
});

test("a DAG without tasks succeeds", async () => {
  expect((await run(new Dag("nothing"))).state).toBe("success");
});
