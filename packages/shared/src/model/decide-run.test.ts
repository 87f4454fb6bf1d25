import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { decideChanges } from "./decide-changes.ts";
import { judgeLeaves, judgeRun } from "./decide-run.ts";
import { graphOf, ti } from "./fixtures/dag.ts";
import { anyGraph, byTask, ended, isActive, startOf } from "./fixtures/random-run.ts";
import { isFinished, TASK_STATES } from "./task-state.ts";

describe("the verdict on a run", () => {
  test("is failed when a leaf failed, and names it", () => {
    expect(judgeLeaves([ti("a", "success"), ti("b", "upstream_failed"), ti("c", "failed")])).toEqual({
      kind: "failed",
      reason: "task_failure",
      taskIds: ["b", "c"],
    });
  });

  test("is success when every leaf succeeded, was skipped or removed, and when there is none", () => {
    expect(judgeLeaves([ti("a", "success"), ti("b", "skipped"), ti("c", "removed")])).toEqual({ kind: "success" });
    expect(judgeLeaves([])).toEqual({ kind: "success" });
  });

  test("looks past a task that failed when the leaf behind it succeeded", () => {
    const graph = graphOf({ work: {}, report: { upstream: ["work"], triggerRule: "all_done" } });
    expect(judgeRun(graph, [ti("work", "failed"), ti("report", "success")])).toEqual({ kind: "success" });
    expect(judgeRun(graph, [ti("work", "success"), ti("report", "failed")])).toMatchObject({ taskIds: ["report"] });
  });

  test("is that of the work, not of the teardown behind it", () => {
    const graph = graphOf({
      make: { isSetup: true },
      work: { upstream: ["make"] },
      clean: { upstream: ["make", "work"], isTeardown: true },
    });
    const make = ti("make", "success");
    expect(judgeRun(graph, [make, ti("work", "failed"), ti("clean", "success")])).toMatchObject({ kind: "failed" });
    expect(judgeRun(graph, [make, ti("work", "success"), ti("clean", "failed")])).toEqual({ kind: "success" });
    expect(judgeRun(graph, [make, ti("work", "failed"), ti("clean", "running")])).toEqual({ kind: "open" });
  });

  test("counts a teardown that says that its failure fails the run", () => {
    const graph = graphOf({ work: {}, clean: { upstream: ["work"], isTeardown: true, onFailureFailDagrun: true } });
    expect(judgeRun(graph, [ti("work", "success"), ti("clean", "failed")])).toMatchObject({ taskIds: ["clean"] });
  });

  test("is that of the last teardowns when a DAG has nothing else", () => {
    const graph = graphOf({ one: { isTeardown: true }, two: { upstream: ["one"], isTeardown: true } });
    expect(judgeRun(graph, [ti("one", "failed"), ti("two", "success")])).toEqual({ kind: "success" });
    expect(judgeRun(graph, [ti("one", "success"), ti("two", "failed")])).toMatchObject({ kind: "failed" });
  });

  test.each(TASK_STATES.filter((state) => !isFinished(state)))("is open while a task that can go on is %s", (state) => {
    const graph = graphOf({ a: {}, b: { upstream: ["a"] } });
    expect(judgeRun(graph, [ti("a", state, { isDue: false }), ti("b", "none")])).toEqual({ kind: "open" });
  });

  test("is a deadlock when nothing is under way and nothing can go", () => {
    const graph = graphOf({ a: {}, b: { upstream: ["a"] }, c: {} });
    expect(judgeRun(graph, [ti("a", "removed"), ti("b", "none"), ti("c", "success")])).toEqual({
      kind: "failed",
      reason: "all_tasks_deadlocked",
      taskIds: ["b"],
    });
  });

  test("is a deadlock when what is left belongs to tasks that the DAG no longer has", () => {
    expect(judgeRun(graphOf({ a: {} }), [ti("a", "success"), ti("gone", "none")])).toMatchObject({
      reason: "all_tasks_deadlocked",
    });
  });

  test.each([
    ["none", false, "open"],
    ["none", true, "failed"],
    ["up_for_retry", true, "failed"],
    ["shutdown", true, "open"],
    ["failed", false, "failed"],
  ] as const)("waits for a past that is %s in a run that is over (%s)? it is %s", (state, isOver, kind) => {
    const graph = graphOf({ a: { dependsOnPast: true }, b: {} });
    const past = () => ({
      runId: "before",
      logicalDate: 0,
      isOver,
      states: [{ taskId: "a", state }],
      hasEarlier: true,
    });
    expect(judgeRun(graph, [ti("a", "none"), ti("b", "success")], past).kind).toBe(kind);
  });

  test("falls in every run, sooner or later, and never while a worker has a task", () => {
    fc.assert(
      fc.property(anyGraph, fc.array(fc.nat({ max: 1_023 }), { minLength: 20, maxLength: 20 }), (graph, draws) => {
        let tasks = startOf(graph);
        for (let round = 0; ; round++) {
          expect(round).toBeLessThan(30);
          const to = new Map(
            decideChanges(graph, byTask(tasks), graph.tasks.keys()).changes.map((change) => [change.ti, change.to]),
          );
          tasks = tasks.map((one) => ({ ...one, state: to.get(one) ?? one.state }));
          const verdict = judgeRun(graph, tasks);
          if (!tasks.some(isActive)) {
            expect(verdict.kind).not.toBe("open");
            break;
          }
          expect(verdict.kind).toBe("open");
          tasks = tasks.map((one, i) => (isActive(one) ? ended(graph, one, draws[(i + round) % 20] ?? 0) : one));
        }
      }),
      { numRuns: 300 },
    );
  });
});
