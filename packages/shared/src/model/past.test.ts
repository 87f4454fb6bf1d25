import type { TaskSpec } from "@millrace/sdk/spec";
import { describe, expect, test } from "vitest";
import { decideTask } from "./decide-task.ts";
import { graphOf, ti } from "./fixtures/dag.ts";
import type { PastOfTask } from "./past.ts";
import type { TaskState } from "./task-state.ts";

const past = (states: Readonly<Record<string, TaskState>>, hasEarlier = true): PastOfTask => ({
  runId: "before",
  logicalDate: Date.UTC(2026, 0, 1),
  states: Object.entries(states).map(([taskId, state]) => ({ taskId, state })),
  hasEarlier,
});

/** What becomes of `b` in `a >> b >> c` when `a` is as given. */
function decide(given: Partial<TaskSpec>, before: PastOfTask | undefined, a: TaskState = "success"): string {
  const graph = graphOf({ a: {}, b: { upstream: ["a"], ...given }, c: { upstream: ["b"] } });
  const node = graph.tasks.get("b");
  if (node === undefined) throw new Error("no b");
  const view = (taskId: string) => (taskId === "a" ? [ti("a", a)] : []);
  return decideTask(graph, node, ti("b", "none"), view, () => before).kind;
}

describe("a task that depends on its past", () => {
  test.each<[string, PastOfTask | undefined, string]>([
    ["goes when there is no run before", undefined, "schedule"],
    ["goes after a success", past({ b: "success" }), "schedule"],
    ["goes after a skip", past({ b: "skipped" }), "schedule"],
    ["waits after a failure", past({ b: "failed" }), "wait"],
    ["waits while it runs there", past({ b: "running" }), "wait"],
    ["waits when the run before does not have it", past({ a: "success" }), "wait"],
    ["does not mind what came after it there", past({ b: "success", c: "failed" }), "schedule"],
  ])("%s", (_what, before, expected) => {
    expect(decide({ dependsOnPast: true }, before)).toBe(expected);
  });

  test("goes where it never was before, with ignoreFirstDependsOnPast", () => {
    const first = { dependsOnPast: true, ignoreFirstDependsOnPast: true };
    expect(decide(first, past({}, false))).toBe("schedule");
    expect(decide(first, past({}, true))).toBe("wait");
  });

  test("is skipped at once, or only when its past is done, with waitForPastDependsBeforeSkipping", () => {
    const waits = { dependsOnPast: true, waitForPastDependsBeforeSkipping: true };
    expect(decide({ dependsOnPast: true }, past({ b: "running" }), "skipped")).toBe("skipped");
    expect(decide(waits, past({ b: "running" }), "skipped")).toBe("wait");
    expect(decide(waits, past({ b: "success" }), "skipped")).toBe("skipped");
  });

  test("waits for what is directly after it there too, with waitForDownstream", () => {
    const waits = { dependsOnPast: true, waitForDownstream: true };
    expect(decide(waits, past({ b: "success", c: "running" }))).toBe("wait");
    expect(decide(waits, past({ b: "success", c: "success" }))).toBe("schedule");
  });
});

test("a task that does not depend on its past does not look at it", () => {
  expect(decide({}, past({ b: "failed" }))).toBe("schedule");
});
