import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { Dag, type DagEnd, type TaskGroup, type TaskRef } from "../index.ts";

/** Six tasks in groups nested up to three deep, with an empty group between; ends in an order that has no cycle. */
function ends(dag: Dag): readonly (TaskRef<unknown> | TaskGroup)[] {
  const outer = dag.taskGroup("outer");
  const first = outer.taskGroup("first");
  const second = outer.taskGroup("second");
  const innermost = second.taskGroup("innermost");
  const place = (scope: Dag | TaskGroup, id: string): TaskRef<unknown> => scope.task(id, () => 1)();
  const [a, b] = [place(first, "a"), place(first, "b")];
  const [c, d] = [place(second, "c"), place(innermost, "d")];
  const [start, end] = [place(dag, "start"), place(dag, "end")];
  return [start, outer, first, a, b, dag.taskGroup("empty"), second, c, innermost, d, end];
}

const INSIDE: Readonly<Record<number, readonly number[]>> = {
  1: [2, 3, 4, 6, 7, 8, 9],
  2: [3, 4],
  6: [7, 8, 9],
  8: [9],
};

/** Forward edges only, none between a group and what is in it; the empty group counts as outside of all. */
const edge = fc
  .tuple(fc.nat(10), fc.nat(10))
  .filter(([from, to]) => from < to && INSIDE[from]?.includes(to) !== true)
  .filter(([from, to]) => !(from === 1 && to === 5) && !(from === 5 && to < 10));

function upstreamOf(edges: readonly (readonly [number, number])[]): readonly (readonly [string, readonly string[]])[] {
  const dag = new Dag("order");
  const all = ends(dag);
  const at = (index: number): DagEnd => all[index] as DagEnd; // the indexes are those of ends()
  for (const [from, to] of edges) all[from]?.before(at(to));
  return dag.spec().tasks.map((task) => [task.taskId, task.upstream]);
}

describe("resolving edges", () => {
  it("does not depend on the order in which they were drawn", () => {
    const drawn = fc.array(edge, { maxLength: 12 });
    const shuffled = drawn.chain((edges) =>
      fc.tuple(fc.constant(edges), fc.shuffledSubarray(edges, { minLength: edges.length })),
    );
    fc.assert(
      fc.property(shuffled, ([edges, other]) => {
        expect(upstreamOf(other)).toEqual(upstreamOf(edges));
      }),
    );
  });

  it("draws an edge between two groups as edges between their outermost tasks only", () => {
    // start → outer, first → second, innermost after c, outer → end
    expect(
      Object.fromEntries(
        upstreamOf([
          [0, 1],
          [1, 10],
          [2, 6],
          [7, 8],
        ]),
      ),
    ).toEqual({
      start: [],
      "outer.first.a": ["start"],
      "outer.first.b": ["start"],
      "outer.second.c": ["outer.first.a", "outer.first.b"],
      "outer.second.innermost.d": ["outer.second.c"],
      end: ["outer.second.innermost.d"],
    });
  });
});
