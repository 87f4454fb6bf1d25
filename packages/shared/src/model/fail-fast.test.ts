import { describe, expect, test } from "vitest";
import { buildDagGraph } from "./dag-graph.ts";
import { failFast } from "./fail-fast.ts";
import { dagSpec, taskSpec, ti } from "./fixtures/dag.ts";

const tasks = [taskSpec("a"), taskSpec("b"), taskSpec("c"), taskSpec("d"), taskSpec("clean", { isTeardown: true })];
const graph = buildDagGraph(dagSpec(tasks, { failFast: true }));
const ids = (some: readonly { readonly taskId: string }[] | undefined) => some?.map((one) => one.taskId);

describe("a DAG that fails fast", () => {
  test("skips what nobody has, stops what workers have or are to restart, and leaves teardowns to run", () => {
    const end = failFast(graph, [
      ti("a", "failed"),
      ti("b", "queued"),
      ti("c", "running"),
      ti("d", "restarting"),
      ti("clean", "none"),
    ]);
    expect([ids(end?.skip), ids(end?.stop)]).toEqual([["b"], ["c", "d"]]);
  });

  test("goes on after the failure of a teardown, and after one from before a clear", () => {
    expect(failFast(graph, [ti("a", "none"), ti("clean", "failed")])).toBeUndefined();
    expect(failFast(graph, [ti("a", "failed", { endedBeforeClear: true }), ti("b", "none")])).toBeUndefined();
  });
});
