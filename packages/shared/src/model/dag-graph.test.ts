import fc from "fast-check";
import { describe, expect, test } from "vitest";
import { buildDagGraph } from "./dag-graph.ts";
import { dagSpec, graphOf, taskSpec } from "./fixtures/dag.ts";
import { anyGraph } from "./fixtures/random-run.ts";
import { runLane } from "./lane.ts";

describe("the graph of a DAG", () => {
  test("holds both directions of every edge, and for each task whom it concerns", () => {
    const graph = graphOf({ c: { upstream: ["a", "b"] }, a: {}, b: { upstream: ["a"] } });
    expect(graph.tasks.get("a")).toMatchObject({ upstream: [], downstream: ["c", "b"], watchedBy: ["c", "b"] });
    expect(graph.tasks.get("c")).toMatchObject({ upstream: ["a", "b"], downstream: [], watches: ["a", "b"] });
  });

  test("watches short circuits at any distance, but not those that respect trigger rules, and none from a teardown", () => {
    const graph = graphOf({
      gate: { branch: "short_circuit" },
      polite: { branch: "short_circuit", ignoreDownstreamTriggerRules: false },
      mid: { upstream: ["gate", "polite"] },
      far: { upstream: ["mid"] },
      clean: { upstream: ["far"], isTeardown: true },
    });
    expect(graph.tasks.get("far")).toMatchObject({ shortCircuits: ["gate"], watches: ["mid", "gate"] });
    expect(graph.tasks.get("clean")).toMatchObject({ shortCircuits: [], watches: ["far"] });
    expect(graph.tasks.get("gate")?.watchedBy.toSorted()).toEqual(["far", "mid"]);
  });

  test("finds a setup above when it has no teardown, or one that is still ahead", () => {
    const tasks = { make: { isSetup: true }, work: { upstream: ["make"] }, more: { upstream: ["work"] } };
    expect(graphOf(tasks).tasks.get("more")?.indirectSetups).toEqual(["make"]);
    const clean = { upstream: ["make", "work"], isTeardown: true };
    // Its teardown is beside `more`, not behind it: the setup serves somebody else.
    expect(graphOf({ ...tasks, clean }).tasks.get("more")?.indirectSetups).toEqual([]);
    const behind = { ...clean, upstream: ["make", "more"] };
    expect(graphOf({ ...tasks, clean: behind }).tasks.get("more")?.indirectSetups).toEqual(["make"]);
  });

  test("sums weights as the task's rule says, each other task once, within 32 bits", () => {
    const diamond = (weightRule: "downstream" | "upstream" | "absolute") =>
      graphOf({
        top: { priorityWeight: 1, weightRule },
        left: { priorityWeight: 10, weightRule, upstream: ["top"] },
        right: { priorityWeight: 100, weightRule, upstream: ["top"] },
        end: { priorityWeight: 1_000, weightRule, upstream: ["left", "right"] },
      });
    const weights = (rule: Parameters<typeof diamond>[0]) =>
      [...diamond(rule).tasks.values()].map((node) => node.priorityWeight);
    expect(weights("downstream")).toEqual([1_111, 1_010, 1_100, 1_000]);
    expect(weights("upstream")).toEqual([1, 11, 101, 1_111]);
    expect(weights("absolute")).toEqual([1, 10, 100, 1_000]);
    const heavy = graphOf({ a: { priorityWeight: 2_000_000_000 }, b: { priorityWeight: 2e9, upstream: ["a"] } });
    expect(heavy.tasks.get("a")?.priorityWeight).toBe(2_147_483_647);
    const light = graphOf({ a: { priorityWeight: -2e9 }, b: { priorityWeight: -2e9, upstream: ["a"] } });
    expect(light.tasks.get("a")?.priorityWeight).toBe(-2_147_483_648);
  });

  test("leaves are the last tasks that count: ordinary ones and teardowns that fail the run", () => {
    const leaves = (tasks: Parameters<typeof graphOf>[0]) => graphOf(tasks).leaves;
    expect(leaves({ a: {}, b: { upstream: ["a"] }, c: {} })).toEqual(["b", "c"]);
    expect(leaves({ a: {}, clean: { upstream: ["a"], isTeardown: true } })).toEqual(["a"]);
    expect(leaves({ a: {}, clean: { upstream: ["a"], isTeardown: true, onFailureFailDagrun: true } })).toEqual([
      "clean",
    ]);
    expect(leaves({ clean: { isTeardown: true }, more: { upstream: ["clean"], isTeardown: true } })).toEqual(["more"]);
    expect(leaves({})).toEqual([]);
  });

  test("ranks every task after all that it watches", () => {
    fc.assert(
      fc.property(anyGraph, (graph) => {
        const ranks = [...graph.tasks.values()].map((node) => node.rank);
        expect(new Set(ranks).size).toBe(ranks.length);
        for (const node of graph.tasks.values()) {
          for (const id of node.watches) expect(graph.tasks.get(id)?.rank).toBeLessThan(node.rank);
          for (const id of node.watchedBy) expect(graph.tasks.get(id)?.watches).toContain(node.spec.taskId);
        }
      }),
      { numRuns: 100 },
    );
  });

  test("of a long chain is made without running out of stack", () => {
    const tasks = Array.from({ length: 500 }, (_, i) => taskSpec(`t${i}`, { upstream: i === 0 ? [] : [`t${i - 1}`] }));
    const graph = buildDagGraph(dagSpec(tasks.toReversed()));
    expect(graph.tasks.get("t0")?.priorityWeight).toBe(500);
  });
});

describe("lanes", () => {
  const laneOf = (given: Parameters<typeof taskSpec>[1]) => graphOf({ t: given ?? {} }).tasks.get("t")?.lane;

  test("put together what no limit tells apart", () => {
    expect(laneOf({})).toBe("");
    expect(laneOf({ poolSlots: 2 })).toBe(laneOf({ poolSlots: 2, priorityWeight: 9 }));
    expect(laneOf({ poolSlots: 2 })).not.toBe(laneOf({ poolSlots: 3 }));
    expect(laneOf({ maxActiveTisPerDag: 1 })).toBe("task t");
    expect(laneOf({ maxActiveTisPerDagrun: 1 })).toBe("task t");
  });

  test("are a run's own when a limit is per run", () => {
    const perRun = taskSpec("t", { maxActiveTisPerDagrun: 1 });
    expect(runLane("task t", perRun, "r1")).not.toBe(runLane("task t", perRun, "r2"));
    const perDag = taskSpec("t", { maxActiveTisPerDag: 1 });
    expect(runLane("task t", perDag, "r1")).toBe(runLane("task t", perDag, "r2"));
  });
});
