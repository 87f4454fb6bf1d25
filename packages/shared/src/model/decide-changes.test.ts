import fc from "fast-check";
import { describe, expect, test } from "vitest";
import type { DagGraph } from "./dag-graph.ts";
import { decideChanges } from "./decide-changes.ts";
import { decideTask, type TaskSnapshot } from "./decide-task.ts";
import { graphOf, ti } from "./fixtures/dag.ts";
import { anyGraph, byTask, ended, isActive, startOf, statesOf } from "./fixtures/random-run.ts";
import { viewOf } from "./run-view.ts";

function apply(tasks: readonly TaskSnapshot[], changes: ReturnType<typeof decideChanges>["changes"]): TaskSnapshot[] {
  const to = new Map(changes.map((change) => [change.ti, change.to]));
  return tasks.map((one) => ({ ...one, state: to.get(one) ?? one.state }));
}

const examineWhole = (graph: DagGraph, tasks: readonly TaskSnapshot[], order: Iterable<string> = graph.tasks.keys()) =>
  apply(tasks, decideChanges(graph, byTask(tasks), order).changes);

/** As the scheduler does: only what the changed tasks concern is looked at, and only what is asked for is loaded. */
function examineNeighbourhood(graph: DagGraph, tasks: readonly TaskSnapshot[], changed: readonly string[]) {
  const all = byTask(tasks);
  const known = new Map<string, readonly TaskSnapshot[]>();
  const candidates = changed.flatMap((id) => [id, ...(graph.tasks.get(id)?.watchedBy ?? [])]);
  for (;;) {
    const { changes, missing } = decideChanges(graph, known, candidates);
    if (missing.size === 0) return { tasks: apply(tasks, changes), loaded: known.size };
    for (const id of missing) {
      expect(known.has(id)).toBe(false);
      known.set(id, all.get(id) ?? []);
    }
  }
}

/** Ends some of the active task instances; at least one, so that a run comes to its end. */
function workersReport(graph: DagGraph, tasks: readonly TaskSnapshot[], draws: readonly number[]) {
  const active = tasks.filter(isActive);
  const ending = new Map(
    active.flatMap((one, i) => {
      const draw = draws[i % draws.length] ?? 0;
      return i === 0 || draw % 3 !== 0 ? [[one, ended(graph, one, draw)] as const] : [];
    }),
  );
  return {
    tasks: tasks.map((one) => ending.get(one) ?? one),
    changed: [...new Set([...ending.keys()].map((one) => one.taskId))],
  };
}

const anyDraws = fc.array(fc.nat({ max: 1_023 }), { minLength: 40, maxLength: 40 });

describe("what follows in a run", () => {
  test("goes on until nothing more follows", () => {
    const graph = graphOf({
      a: {},
      b: { upstream: ["a"] },
      c: { upstream: ["b"] },
      d: { upstream: ["c"], triggerRule: "all_done" },
    });
    const { changes } = decideChanges(
      graph,
      byTask([ti("a", "failed"), ti("b", "none"), ti("c", "none"), ti("d", "none")]),
      ["b"],
    );
    expect(changes.map((change) => [change.ti.taskId, change.to])).toEqual([
      ["b", "upstream_failed"],
      ["c", "upstream_failed"],
      ["d", "scheduled"],
    ]);
  });

  test("passes through empty tasks at once", () => {
    const graph = graphOf({
      a: { operator: "empty" },
      b: { operator: "empty", upstream: ["a"] },
      c: { upstream: ["b"] },
    });
    const start = [ti("a", "none"), ti("b", "none"), ti("c", "none")];
    expect(statesOf(examineWhole(graph, start))).toEqual({
      "a[-1]": "success",
      "b[-1]": "success",
      "c[-1]": "scheduled",
    });
  });

  test("prefers a failure to a skip that becomes known in the same look, in any order", () => {
    const graph = graphOf({
      broken: {},
      dull: {},
      a: { upstream: ["broken"] },
      b: { upstream: ["dull"] },
      join: { upstream: ["a", "b"] },
    });
    const known = [ti("broken", "failed"), ti("dull", "skipped"), ti("a", "none"), ti("b", "none"), ti("join", "none")];
    for (const order of [
      ["a", "b"],
      ["b", "a"],
      ["join", "b", "a"],
    ]) {
      expect(statesOf(examineWhole(graph, known, order))).toMatchObject({ "join[-1]": "upstream_failed" });
    }
  });

  test("reaches past the next task whoever watches one that ended, as a task watches its setup", () => {
    const graph = graphOf({
      broken: {},
      make: { isSetup: true, upstream: ["broken"] },
      work: { upstream: ["make"], triggerRule: "always" },
      more: { upstream: ["work"] },
    });
    const known = [ti("broken", "failed"), ti("make", "none"), ti("work", "running"), ti("more", "none")];
    expect(statesOf(examineWhole(graph, known, ["make"]))).toMatchObject({
      "make[-1]": "upstream_failed",
      "more[-1]": "upstream_failed",
    });
  });

  test("names what it has to see and leaves that task alone until it is there", () => {
    const graph = graphOf({ a: {}, b: {}, c: { upstream: ["a", "b"] } });
    const known = byTask([ti("a", "failed"), ti("c", "none")]);
    expect(decideChanges(graph, known, ["c"])).toEqual({ changes: [], expansions: [], missing: new Set(["b"]) });
    expect(decideChanges(graph, byTask([]), ["c"])).toEqual({ changes: [], expansions: [], missing: new Set(["c"]) });
  });

  test("touches nothing that a worker has or that has ended, and no task that the graph does not hold", () => {
    const graph = graphOf({ a: {}, b: { upstream: ["a"] } });
    for (const state of ["scheduled", "queued", "running", "deferred", "success", "failed", "removed"] as const) {
      const known = byTask([ti("a", "failed"), ti("b", state)]);
      expect(decideChanges(graph, known, ["a", "b", "gone"]).changes).toEqual([]);
    }
  });

  test("is the same in whatever order the tasks are looked at", () => {
    fc.assert(
      fc.property(
        anyGraph,
        anyDraws,
        fc.array(fc.nat({ max: 1_000_000 }), { minLength: 9, maxLength: 9 }),
        (graph, draws, keys) => {
          const ids = [...graph.tasks.keys()];
          const shuffled = ids.map((id, i) => [keys[i % keys.length] ?? 0, id] as const).sort((a, b) => a[0] - b[0]);
          let tasks = startOf(graph);
          for (let round = 0; round < 12; round++) {
            const straight = examineWhole(graph, tasks);
            expect(
              statesOf(
                examineWhole(
                  graph,
                  tasks,
                  shuffled.map(([, id]) => id),
                ),
              ),
            ).toEqual(statesOf(straight));
            expect(statesOf(examineWhole(graph, tasks, ids.toReversed()))).toEqual(statesOf(straight));
            // A second look finds nothing that the first one left.
            expect(statesOf(examineWhole(graph, straight))).toEqual(statesOf(straight));
            if (!straight.some(isActive)) break;
            tasks = workersReport(graph, straight, draws.slice(round * 3)).tasks;
          }
        },
      ),
      { numRuns: 400 },
    );
  });

  test("is the same when only the neighbourhood of what changed is looked at", () => {
    let looks = 0;
    let smaller = 0;
    fc.assert(
      fc.property(anyGraph, anyDraws, (graph, draws) => {
        let tasks = examineWhole(graph, startOf(graph));
        for (let round = 0; round < 12 && tasks.some(isActive); round++) {
          const report = workersReport(graph, tasks, draws.slice(round * 3));
          const near = examineNeighbourhood(graph, report.tasks, report.changed);
          tasks = examineWhole(graph, report.tasks);
          expect(statesOf(near.tasks)).toEqual(statesOf(tasks));
          looks++;
          if (near.loaded < graph.tasks.size) smaller++;
        }
      }),
      { numRuns: 400 },
    );
    // The property would hold trivially if the neighbourhood were always everything.
    expect(smaller).toBeGreaterThan(looks / 10);
  });

  test("reads nothing but what a task watches", () => {
    fc.assert(
      fc.property(anyGraph, anyDraws, (graph, draws) => {
        let tasks = startOf(graph);
        for (let round = 0; round < 6; round++) {
          const all = viewOf(tasks);
          for (const node of graph.tasks.values()) {
            const watched = viewOf(tasks.filter((one) => node.watches.includes(one.taskId)));
            for (const one of all(node.spec.taskId).filter((t) => t.state === "none")) {
              expect(decideTask(graph, node, one, watched)).toEqual(decideTask(graph, node, one, all));
            }
          }
          tasks = workersReport(graph, examineWhole(graph, tasks), draws.slice(round * 3)).tasks;
        }
      }),
      { numRuns: 150 },
    );
  });
});
