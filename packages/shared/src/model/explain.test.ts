import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { admit } from "./admission.ts";
import { describeCondition, type Condition } from "./conditions.ts";
import { buildDagGraph } from "./dag-graph.ts";
import { judgeTask } from "./decide-task.ts";
import { earliestOf, explainRun, explainTaskInstance, type Situation, type TaskSituation } from "./explain.ts";
import { graphOf, ti } from "./fixtures/dag.ts";
import { anyGraph, startOf } from "./fixtures/random-run.ts";
import { inSituation, NOW, situation } from "./fixtures/situation.ts";
import { viewOf } from "./run-view.ts";
import { RUN_STATES } from "./run-state.ts";
import { isFinished, TASK_STATES } from "./task-state.ts";

const graph = graphOf({ a: {}, b: { upstream: ["a"] } });
const explain = (task: TaskSituation, given: Partial<Situation> = {}, others: readonly TaskSituation[] = []) =>
  explainTaskInstance(situation(given.graph ?? graph, [task, ...others], given), task);
const b = (state: TaskSituation["state"], given: Partial<TaskSituation> = {}) => inSituation(ti("b", state), given);
const a = (state: TaskSituation["state"]) => inSituation(ti("a", state));
const kinds = (conditions: readonly Condition[]) => conditions.map((condition) => condition.kind);
const says = (conditions: readonly Condition[]) => conditions.map(describeCondition).join("; ");

describe("a task instance that was not decided yet", () => {
  test("names its trigger rule with the state of each upstream", () => {
    const conditions = explain(b("none"), {}, [a("running")]);
    expect(conditions).toEqual([
      { kind: "trigger_rule", rule: "all_success", upstreams: [{ taskId: "a", mapIndex: -1, state: "running" }] },
    ]);
    expect(says(conditions)).toBe("trigger rule all_success: a is running");
  });

  test("says until when its retry waits", () => {
    const task = inSituation(ti("a", "up_for_retry", { isDue: false }));
    const conditions = explain(task);
    expect(conditions).toEqual([{ kind: "retry_delay", until: NOW + 30_000 }]);
    expect(earliestOf(conditions)).toBe(NOW + 30_000);
    expect(says(conditions)).toBe("it is tried again at 2026-06-01T12:00:30Z");
  });

  test("names the past and its trigger rule together", () => {
    const past = graphOf({ a: {}, b: { upstream: ["a"], dependsOnPast: true } });
    const before = {
      runId: "before",
      logicalDate: 0,
      states: [{ taskId: "b", state: "failed" as const }],
      hasEarlier: true,
    };
    const conditions = explain(b("none"), { graph: past, past: () => before }, [a("queued")]);
    expect(kinds(conditions)).toEqual(["trigger_rule", "depends_on_past"]);
    expect(says(conditions)).toContain("b of run before is failed");
  });

  test("that nothing holds goes next, unless no scheduler lives", () => {
    expect(explain(b("none"), {}, [a("success")])).toEqual([{ kind: "decided_next", to: "scheduled" }]);
    const processes = { ...situation(graph, []).processes, schedulers: { live: 0, lastSeen: NOW } };
    expect(kinds(explain(b("none"), { processes }, [a("success")]))).toEqual(["no_live_scheduler"]);
  });

  test("of a queued run names what holds the run; of a finished one, that it is over", () => {
    const base = situation(graph, []);
    const queued = { ...base.run, state: "queued" as const, runAfter: NOW + 5_000 };
    const given = {
      run: queued,
      dag: { ...base.dag, isPaused: true, maxActiveRuns: 1 },
      rivals: { running: ["older"], ahead: 2 },
    };
    const conditions = explain(a("none"), given);
    expect(kinds(conditions)).toEqual(["dag_paused", "run_after_in_future", "run_queued_behind"]);
    expect(says(conditions)).toContain("1 of 1 runs of the DAG run (older); 2 queued runs are older");
    expect(kinds(explain(a("none"), { run: { ...base.run, state: "failed" } }))).toEqual(["run_finished"]);
  });
});

describe("a scheduled task instance", () => {
  const occupied = (pool: string, slots: number, count = 1) => ({
    pool,
    dagId: "dag",
    taskId: "b",
    dagRunId: 1,
    count,
    slots,
  });

  test("names every limit that has no room, with what is used of it", () => {
    const limited = graphOf({ a: {}, b: { upstream: ["a"], maxActiveTisPerDag: 2, maxActiveTisPerDagrun: 1 } });
    const base = situation(limited, []);
    const conditions = explain(b("scheduled", { poolSlots: 2 }), {
      graph: limited,
      limits: { ...base.limits, parallelism: 2 },
      dag: { ...base.dag, maxActiveTasks: 2 },
      pools: [{ pool: "default_pool", slots: 3 }],
      occupancy: [occupied("default_pool", 2, 2)],
      ahead: new Map([["b[-1]", 3]]),
    });
    expect(conditions).toEqual([
      { kind: "parallelism", of: 2, used: 2 },
      { kind: "pool_full", pool: "default_pool", of: 3, used: 2, needs: 2 },
      { kind: "max_active_tasks", of: 2, used: 2 },
      { kind: "max_active_tis_per_dag", of: 2, used: 2 },
      { kind: "max_active_tis_per_dagrun", of: 1, used: 2 },
      { kind: "ahead_of_it", count: 3 },
    ]);
  });

  test("that can never run says so", () => {
    expect(kinds(explain(b("scheduled", { poolSlots: 200 })))).toEqual(["pool_too_small"]);
    expect(kinds(explain(b("scheduled", { pool: "gone" })))).toEqual(["pool_missing"]);
  });

  test("with room everywhere is next", () => {
    expect(kinds(explain(b("scheduled")))).toEqual(["queued_next"]);
    // A pause keeps runs from starting; what a started one has goes on.
    expect(kinds(explain(b("scheduled"), { dag: { ...situation(graph, []).dag, isPaused: true } }))).toEqual([
      "queued_next",
    ]);
  });
});

test("one that its DAG's failing fast will skip says whose failure that is, but for one from before a clear", () => {
  const fast = buildDagGraph({ ...graph.spec, failFast: true });
  const failed = inSituation(ti("c", "failed"));
  expect(kinds(explain(a("none"), { graph: fast }, [failed]))).toEqual(["fail_fast"]);
  const old = inSituation(ti("c", "failed", { endedBeforeClear: true }));
  expect(kinds(explain(a("none"), { graph: fast }, [old]))).toEqual(["decided_next"]);
});

test("a queued one tells when it is sent again, and whether anybody serves its queue", () => {
  const unclaimed = {
    kind: "queued_unclaimed",
    since: NOW - 60_000,
    sentAgainAt: NOW + 10_000,
    failsAt: NOW + 540_000,
  };
  expect(explain(b("queued"))).toEqual([unclaimed]);
  expect(explain(b("queued", { queue: "gpu" }))).toEqual([
    { kind: "no_live_worker_for_queue", queue: "gpu" },
    unclaimed,
  ]);
  const processes = {
    ...situation(graph, []).processes,
    workers: [{ queues: ["default"], concurrency: 2, running: 2 }],
  };
  expect(says(explain(b("queued"), { processes }))).toContain("run 2 tasks at once, and have 2 places");
});

test("one that a worker has tells who, and what becomes of it", () => {
  const held = { worker: "host", heartbeatAge: 31, startedAt: NOW - 60_000 };
  expect(says(explain(b("running", held)))).toBe(
    "it runs on host, which was heard of 31 s ago: too long, it is taken for lost",
  );
  expect(says(explain(b("shutdown", { ...held, mark: "success", heartbeatAge: 1 })))).toContain("then it is success");
  expect(says(explain(b("restarting", held)))).toContain("then it starts afresh");
});

test("one that the deciders ended tells why", () => {
  const branched = graphOf({ pick: { branch: "branch" }, b: { upstream: ["pick"] } });
  const pick = inSituation(ti("pick", "success", { branchDecision: { kind: "follow", taskIds: [] } }));
  expect(says(explain(b("skipped"), { graph: branched }, [pick]))).toBe("it is skipped; pick took another branch");
  expect(says(explain(b("failed", { reason: "Error: no" })))).toBe("it is failed: Error: no");
});

describe("a run", () => {
  const queued = { ...situation(graph, []).run, state: "queued" as const };

  test("that can do nothing says what it waits for, and is not said to wait for a place", () => {
    const past = graphOf({ a: { dependsOnPast: true }, b: { upstream: ["a"] } });
    const before = {
      runId: "before",
      logicalDate: 0,
      states: [{ taskId: "a", state: "failed" as const }],
      hasEarlier: true,
    };
    const s = situation(past, [a("none"), b("none")], { run: queued, past: () => before });
    expect(explainRun(s)).toEqual([
      { kind: "run_blocked_by_past", runId: "before", tasks: [{ taskId: "a", mapIndex: -1 }] },
    ]);
    expect(says(explainRun(s))).toBe("nothing in it can begin before run before: a depend on their past");
  });

  test("that nothing holds starts next; a running one counts its tasks", () => {
    expect(kinds(explainRun(situation(graph, [a("none"), b("none")], { run: queued })))).toEqual(["run_starts"]);
    expect(says(explainRun(situation(graph, [a("success"), b("running")])))).toBe("it runs: 1 success, 1 running");
  });
});

const anySituation: fc.Arbitrary<Situation> = anyGraph.chain((drawn) =>
  fc
    .record({
      states: fc.infiniteStream(fc.constantFrom(...TASK_STATES)),
      due: fc.infiniteStream(fc.boolean()),
      slots: fc.infiniteStream(fc.integer({ min: 1, max: 4 })),
      pool: fc.infiniteStream(fc.constantFrom("default_pool", "default_pool", "small", "gone")),
      run: fc.constantFrom(...RUN_STATES),
      used: fc.nat({ max: 6 }),
      parallelism: fc.integer({ min: 1, max: 6 }),
      maxActiveTasks: fc.integer({ min: 1, max: 4 }),
      isPaused: fc.boolean(),
      runAfter: fc.constantFrom(NOW - 1, NOW + 1_000),
      rivals: fc.array(fc.constantFrom("x", "y"), { maxLength: 2 }),
      live: fc.nat({ max: 1 }),
      heartbeatAge: fc.option(fc.nat({ max: 60 })),
      workers: fc.boolean(),
    })
    .map((d) => {
      const next = <T>(stream: Iterator<T>) => stream.next().value as T;
      const tasks = startOf(drawn).map((one) =>
        inSituation(
          { ...one, state: next(d.states), isDue: next(d.due) },
          { poolSlots: next(d.slots), pool: next(d.pool), heartbeatAge: d.heartbeatAge },
        ),
      );
      const base = situation(drawn, tasks);
      return {
        ...base,
        limits: { ...base.limits, parallelism: d.parallelism },
        dag: { ...base.dag, isPaused: d.isPaused, maxActiveTasks: d.maxActiveTasks, maxActiveRuns: 1 },
        run: { ...base.run, state: d.run, runAfter: d.runAfter },
        rivals: { running: d.rivals, ahead: 0 },
        pools: [
          { pool: "default_pool", slots: 6 },
          { pool: "small", slots: 2 },
        ],
        occupancy: [{ pool: "small", dagId: "dag", taskId: "t0", dagRunId: 9, count: d.used, slots: d.used }],
        processes: {
          schedulers: { live: d.live, lastSeen: null },
          triggerers: Array.from({ length: d.live }, () => ({ queues: [] })),
          workers: d.workers ? base.processes.workers : [],
        },
      };
    }),
);

describe("in any situation", () => {
  test("nothing is without a reason, and each reason is a sentence", () => {
    fc.assert(
      fc.property(anySituation, (s) => {
        for (const task of s.tasks) {
          const conditions = explainTaskInstance(s, task);
          expect(conditions.length, task.state).toBeGreaterThan(0);
          for (const condition of conditions) {
            expect(describeCondition(condition)).toMatch(/^\S.*\S$/);
            expect(describeCondition(condition)).not.toMatch(/undefined|NaN|\[object/);
          }
        }
        expect(explainRun(s).length).toBeGreaterThan(0);
        expect(says(explainRun(s))).not.toMatch(/undefined|NaN/);
      }),
      { numRuns: 500 },
    );
  });

  test("the reasons are those of the deciders: it goes next exactly when they let it", () => {
    fc.assert(
      fc.property(anySituation, (s) => {
        for (const task of s.tasks) {
          const found = kinds(explainTaskInstance(s, task));
          const node = s.graph.tasks.get(task.taskId);
          if (task.state === "scheduled") {
            const { admitted } = admit({
              parallelism: s.limits.parallelism,
              pools: s.pools,
              occupancy: s.occupancy,
              candidates: [
                { ...task, epoch: 0, dagId: "dag", dagRunId: 1, logicalDate: null, runAfter: s.run.runAfter },
              ],
              limitsOf: () => ({ maxActiveTasks: s.dag.maxActiveTasks }),
            });
            const goes = admitted.length === 1 && s.processes.schedulers.live > 0;
            expect(found.includes("queued_next")).toBe(goes);
          } else if (!isFinished(task.state) && ["none", "up_for_retry", "up_for_reschedule"].includes(task.state)) {
            const { kind } = judgeTask(s.graph, node ?? expect.fail(), task, viewOf(s.tasks));
            const isHeld = s.run.state !== "running" || s.processes.schedulers.live === 0;
            if (!isHeld) expect(found.includes("decided_next")).toBe(kind !== "wait");
            if (kind === "wait" && s.run.state === "running") expect(found).not.toContain("decided_next");
          }
        }
      }),
      { numRuns: 300 },
    );
  });
});
