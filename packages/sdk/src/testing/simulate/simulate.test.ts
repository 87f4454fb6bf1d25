import { Dag } from "../../index.ts";
import { branch, shortCircuit } from "../../operators/index.ts";
import { describe, expect, test } from "vitest";
import type { SimulateOptions } from "./options.ts";
import type { SimulatedRun } from "./result.ts";
import { simulate } from "./simulate.ts";

const DAY: Pick<SimulateOptions, "from" | "until"> = { from: "2026-01-01T00:00:00Z", until: "2026-01-02T00:00:00Z" };

const hourly = (options: ConstructorParameters<typeof Dag>[1] = {}) =>
  new Dag("hourly", { schedule: "@hourly", startDate: new Date(DAY.from), catchup: true, ...options });
const time = (date: Date | null) => date?.toISOString().slice(11, 19);
const states = (run: SimulatedRun | undefined) =>
  Object.fromEntries(run?.tasks.map((task) => [task.taskId, task.state]) ?? []);

describe("runs of a schedule", () => {
  test("each interval gets one run, when it is over", () => {
    const dag = hourly();
    dag.task("a", () => 1)();
    const { runs, summary } = simulate(dag, DAY);
    expect(runs).toHaveLength(23);
    expect(runs[0]).toMatchObject({
      runId: "scheduled__2026-01-01T01:00:00+00:00",
      dataIntervalStart: new Date("2026-01-01T00:00:00Z"),
      dataIntervalEnd: new Date("2026-01-01T01:00:00Z"),
      runAfter: new Date("2026-01-01T01:00:00Z"),
      startDate: new Date("2026-01-01T01:00:00Z"),
      endDate: new Date("2026-01-01T01:00:01Z"),
      state: "success",
    });
    expect(summary).toMatchObject({ runs: { success: 23 }, tries: 23, peak: { tasks: 1 } });
  });

  test("without catchup the latest interval comes first, and none before it", () => {
    const dag = hourly({ startDate: new Date("2020-01-01T00:00:00Z"), catchup: false });
    dag.task("a", () => 1)();
    const { runs } = simulate(dag, { from: "2026-01-01T00:30:00Z", until: "2026-01-01T02:30:00Z" });
    expect(runs.map((run) => time(run.dataIntervalStart))).toEqual(["23:00:00", "00:00:00", "01:00:00"]);
  });

  test("maxActiveRuns lets no more run at once, the oldest first", () => {
    const dag = hourly({ maxActiveRuns: 2 });
    dag.task("slow", () => 1)();
    const { runs, summary } = simulate(dag, { ...DAY, outcomes: { slow: { duration: 3 * 3600 } } });
    for (const run of runs) {
      const at = run.startDate?.getTime() ?? 0;
      const others = runs.filter((one) => (one.startDate?.getTime() ?? 0) <= at && (one.endDate?.getTime() ?? 0) > at);
      expect(others.length).toBeLessThanOrEqual(2);
    }
    expect(summary.lateness.max).toBeGreaterThan(3600);
    expect(summary.waits.max_active_runs).toBeGreaterThan(0);
  });

  test("what was due waits for room, and is created when the run before it ends", () => {
    const dag = hourly({ startDate: new Date("2025-12-31T20:00:00Z"), maxActiveRuns: 1 });
    dag.task("a", () => 1)();
    const { runs } = simulate(dag, { from: "2026-01-01T00:30:00Z", until: "2026-01-01T00:45:00Z" });
    expect(runs.map((run) => time(run.startDate))).toEqual(["00:30:00", "00:30:01", "00:30:02", "00:30:03"]);
  });

  test("a run that somebody triggers has no part in the schedule", () => {
    const dag = new Dag("manual");
    dag.task("a", () => 1)();
    const { runs } = simulate(dag, { ...DAY, triggers: ["2026-01-01T03:00:00Z"] });
    expect(runs).toMatchObject([{ runType: "manual", startDate: new Date("2026-01-01T03:00:00Z"), state: "success" }]);
  });

  test("a DAG whose newest runs all failed is paused", () => {
    const dag = hourly({ maxConsecutiveFailedDagRuns: 3 });
    dag.task("bad", () => 1)();
    const { runs, summary } = simulate(dag, { ...DAY, outcomes: { bad: "failed" } });
    expect(runs).toHaveLength(3);
    expect(time(summary.pausedAt)).toBe("03:00:01");
  });
});

describe("tasks", () => {
  test("a failed try comes again after its delay, and what is downstream waits for it", () => {
    const dag = hourly({ maxActiveRuns: 1 });
    const a = dag.task("a", () => 1, { retries: 2, retryDelay: 60 })();
    dag
      .task("b", () => 1)()
      .after(a);
    const { runs } = simulate(dag, {
      ...DAY,
      outcomes: { a: ({ tryNumber }) => ({ state: tryNumber < 3 ? "failed" : "success", duration: 10 }) },
    });
    const [first] = runs;
    expect(first?.tasks[0]?.tries.map((one) => [one.tryNumber, one.state, time(one.startDate)])).toEqual([
      [1, "failed", "01:00:00"],
      [2, "failed", "01:01:10"],
      [3, "success", "01:02:20"],
    ]);
    expect(time(first?.tasks[1]?.startDate ?? null)).toBe("01:02:30");
  });

  test("trigger rules, branches and short circuits decide as the scheduler does", () => {
    const dag = new Dag("rules");
    const bad = dag.task("bad", () => 1)();
    dag
      .task("after_bad", () => 1)()
      .after(bad);
    dag
      .task("cleanup", () => 1, { triggerRule: "all_done" })()
      .after(bad);
    const choose = dag.task(
      "choose",
      branch(() => "left"),
    )();
    dag
      .task("left", () => 1)()
      .after(choose);
    dag
      .task("right", () => 1)()
      .after(choose);
    const gate = dag.task(
      "gate",
      shortCircuit(() => false),
    )();
    dag
      .task("beyond", () => 1)()
      .after(gate);
    const { runs } = simulate(dag, {
      ...DAY,
      triggers: [DAY.from],
      outcomes: { bad: "failed", choose: { follow: ["left"] }, gate: { follow: [] } },
    });
    expect(states(runs[0])).toEqual({
      bad: "failed",
      after_bad: "upstream_failed",
      cleanup: "success",
      choose: "success",
      left: "success",
      right: "skipped",
      gate: "success",
      beyond: "skipped",
    });
    expect(runs[0]).toMatchObject({ state: "failed", reason: "task_failure" });
  });

  test("a task that depends on its past waits for the run before; after a failure there nothing can begin", () => {
    const dag = hourly();
    dag.task("a", () => 1, { dependsOnPast: true })();
    const { runs, summary } = simulate(dag, {
      ...DAY,
      outcomes: { a: ({ logicalDate }) => (logicalDate?.getUTCHours() === 5 ? "failed" : "success") },
    });
    expect(runs.filter((run) => run.state === "success")).toHaveLength(5);
    expect(runs[5]?.state).toBe("failed");
    expect(runs.slice(6).every((run) => run.state === "queued")).toBe(true);
    expect(summary.runs).toEqual({ success: 5, failed: 1, queued: 16 });
  });

  test("a run over its dagrunTimeout fails, with what runs stopped and the rest skipped", () => {
    const dag = new Dag("late", { dagrunTimeout: 60 });
    const a = dag.task("a", () => 1)();
    dag
      .task("b", () => 1)()
      .after(a);
    const { runs } = simulate(dag, { ...DAY, triggers: [DAY.from], outcomes: { a: { duration: 600 } } });
    expect(runs).toMatchObject([{ state: "failed", reason: "timed_out" }]);
    expect(states(runs[0])).toEqual({ a: "failed", b: "skipped" });
    expect(time(runs[0]?.tasks[0]?.endDate ?? null)).toBe("00:01:00");
  });

  test("limits hold: a pool, the DAG's own, and those of all workers", () => {
    const dag = new Dag("limits", { maxActiveTasks: 3 });
    for (let i = 0; i < 6; i++) dag.task(`t${i}`, () => 1, { pool: "narrow" })();
    const triggers = [DAY.from];
    const peak = (limits: SimulateOptions["limits"]) =>
      simulate(dag, { ...DAY, triggers, ...(limits && { limits }) }).summary.peak.tasks;
    expect([peak({}), peak({ pools: { narrow: 2 } }), peak({ workerSlots: 1 }), peak({ parallelism: 2 })]).toEqual([
      3, 2, 1, 2,
    ]);
  });

  test("a try longer than its executionTimeout fails then", () => {
    const dag = new Dag("slow");
    dag.task("a", () => 1, { executionTimeout: 30 })();
    const { runs } = simulate(dag, { ...DAY, triggers: [DAY.from], outcomes: { a: { duration: 60 } } });
    expect(runs[0]?.tasks[0]).toMatchObject({ state: "failed", endDate: new Date("2026-01-01T00:00:30Z") });
  });

  test("an empty run of a failFast DAG ends with its first failure", () => {
    const dag = new Dag("fast", { failFast: true });
    dag.task("bad", () => 1)();
    dag.task("long", () => 1)();
    const { runs } = simulate(dag, {
      ...DAY,
      triggers: [DAY.from],
      outcomes: { bad: "failed", long: { duration: 900 } },
    });
    expect(states(runs[0])).toEqual({ bad: "failed", long: "failed" });
    expect(time(runs[0]?.endDate ?? null)).toBe("00:00:01");
  });
});

describe("faults", () => {
  test("a lost worker is found a lease later, and a task with retries runs again without using one", () => {
    const dag = new Dag("lost");
    dag.task("again", () => 1, { retries: 1 })();
    dag.task("once", () => 1)();
    const { runs } = simulate(dag, {
      ...DAY,
      triggers: [DAY.from],
      outcomes: { "*": { duration: 100 } },
      faults: [{ kind: "worker-lost", at: "2026-01-01T00:00:50Z" }],
    });
    const [again, once] = runs[0]?.tasks ?? [];
    expect(once).toMatchObject({ state: "failed", tryNumber: 1 });
    expect(again).toMatchObject({ state: "success" });
    expect(again?.tries.map((one) => [one.state, time(one.startDate)])).toEqual([
      ["failed", "00:00:00"],
      ["success", "00:01:20"],
    ]);
  });

  test("while no scheduler decides nothing starts; nothing of the schedule is lost", () => {
    const dag = hourly();
    dag.task("a", () => 1)();
    const { runs } = simulate(dag, {
      ...DAY,
      faults: [{ kind: "scheduler-outage", from: "2026-01-01T02:30:00Z", until: "2026-01-01T05:30:00Z" }],
    });
    expect(runs).toHaveLength(23);
    expect(runs.slice(1, 6).map((run) => time(run.startDate))).toEqual([
      "02:00:00",
      "05:30:00",
      "05:30:00",
      "05:30:00",
      "06:00:00",
    ]);
  });

  test("workers that are late delay what was queued in that time", () => {
    const dag = hourly();
    dag.task("a", () => 1)();
    const { runs, summary } = simulate(dag, {
      ...DAY,
      faults: [{ kind: "delayed-start", from: "2026-01-01T02:00:00Z", until: "2026-01-01T02:30:00Z", seconds: 90 }],
    });
    expect(time(runs[1]?.tasks[0]?.startDate ?? null)).toBe("02:01:30");
    expect(summary.waits).toEqual({ delayed_start: 90 });
  });
});

test("the same seed gives the same history, another one another", () => {
  const dag = hourly();
  dag.task("a", () => 1, { retries: 1, retryDelay: 5 })();
  const play = (seed: number) => JSON.stringify(simulate(dag, { ...DAY, seed, outcomes: { a: { failed: 0.4 } } }).runs);
  expect(play(1)).toBe(play(1));
  expect(play(1)).not.toBe(play(2));
});

test("a timeline shows tries as bars", () => {
  const dag = new Dag("drawn");
  const a = dag.task("a", () => 1, { retries: 1, retryDelay: 10 })();
  dag
    .task("b", () => 1)()
    .after(a);
  const result = simulate(dag, {
    ...DAY,
    triggers: [DAY.from],
    outcomes: {
      a: ({ tryNumber }) => ({ state: tryNumber === 1 ? "failed" : "success", duration: 10 }),
      b: { duration: 10 },
    },
  });
  expect(result.timeline({ width: 90 })).toBe(
    [
      "                                    2026-01-01 00:00:00 2026-01-01 00:00:40",
      "manual__2026-01-01T00:00:00.000Z_0  ──────────────────────────────────────  success",
      "  a                                 ▓▓▓▓▓▓▓▓▓▓         ██████████           success, try 2",
      "  b                                                             ██████████  success",
      "",
    ].join("\n"),
  );
});

describe("what cannot be simulated is said, all of it at once", () => {
  const dag = hourly();
  const a = dag.task("a", () => 1)();
  dag
    .task("b", () => 1)()
    .after(a);
  const play =
    (options: Partial<SimulateOptions>, of = dag) =>
    () =>
      simulate(of, { ...DAY, ...options });

  test.each<[string, Partial<SimulateOptions>, string]>([
    ["until before from", { until: "2025-01-01" }, "until (2025-01-01T00:00:00.000Z) is not after from"],
    ["no date", { from: "tomorrow" }, "from is not a date: tomorrow"],
    ["an unknown task", { outcomes: { c: "failed" } }, "there is no task c; there are a, b"],
    ["no probability", { outcomes: { a: { failed: 2 } } }, "2 is no probability from 0 to 1"],
    ["no state", { outcomes: { a: "broken" as "failed" } }, "broken is no state of a try"],
    ["a negative duration", { outcomes: { a: { duration: -1 } } }, "a duration of -1 s is not possible"],
    ["a task that is not downstream", { outcomes: { a: { follow: ["a"] } } }, "a is not directly downstream of it"],
    ["a trigger outside", { triggers: ["2027-01-01"] }, "the trigger at 2027-01-01T00:00:00.000Z is not between"],
    [
      "an outage without end",
      { faults: [{ kind: "scheduler-outage", from: "2026-01-02", until: "2026-01-01" }] },
      "faults[0]: until",
    ],
  ])("%s", (_what, options, message) => expect(play(options)).toThrow(message));

  test("a DAG without a schedule and without triggers", () => {
    const idle = new Dag("idle");
    idle.task("a", () => 1)();
    expect(play({}, idle)).toThrow("time alone asks for no run of it, so nothing would happen: give triggers");
  });

  test("a schedule that never fires", () => {
    const never = new Dag("never", { schedule: "0 0 31 2 *" });
    never.task("a", () => 1)();
    expect(play({}, never)).toThrow("no date matches it, ever");
  });
});
