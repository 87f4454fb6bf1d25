import { describe, expect, test } from "vitest";
import type { DagGraph } from "./dag-graph.ts";
import { decideTask, type TaskSnapshot } from "./decide-task.ts";
import { graphOf, ti } from "./fixtures/dag.ts";
import { viewOf } from "./run-view.ts";

function decide(graph: DagGraph, subject: TaskSnapshot, others: readonly TaskSnapshot[]) {
  const node = graph.tasks.get(subject.taskId);
  if (node === undefined) throw new Error(`no task ${subject.taskId}`);
  return decideTask(graph, node, subject, viewOf([subject, ...others]));
}

const none = (taskId: string) => ti(taskId, "none");

describe("a branch", () => {
  const graph = graphOf({
    choose: { branch: "branch" },
    left: { upstream: ["choose"] },
    right: { upstream: ["choose"] },
    join: { upstream: ["left", "right"], triggerRule: "none_failed_min_one_success" },
    direct: { upstream: ["choose"], triggerRule: "always" },
  });
  const chosen = ti("choose", "success", { branchDecision: { kind: "follow", taskIds: ["left"] } });

  test("skips the arm that was not taken and lets the other go", () => {
    expect(decide(graph, none("left"), [chosen])).toEqual({ kind: "schedule" });
    expect(decide(graph, none("right"), [chosen])).toMatchObject({
      kind: "skipped",
      reason: "choose took another branch",
    });
  });

  test("skips an arm again when it is cleared, whatever its trigger rule", () => {
    expect(decide(graph, none("direct"), [chosen])).toMatchObject({ kind: "skipped" });
  });

  test("does not skip the join behind its arms", () => {
    const arms = [chosen, ti("left", "success"), ti("right", "skipped")];
    expect(decide(graph, none("join"), arms)).toEqual({ kind: "schedule" });
    expect(decide(graph, none("join"), [chosen, none("left"), ti("right", "skipped")])).toMatchObject({ kind: "wait" });
  });

  test("decides nothing once its own task failed", () => {
    const failed = { ...chosen, state: "failed" as const };
    expect(decide(graph, none("direct"), [failed])).toEqual({ kind: "schedule" });
    expect(decide(graph, none("right"), [failed])).toMatchObject({ kind: "upstream_failed" });
  });

  test("that followed a join directly keeps it, in both orders of its edges", () => {
    for (const upstream of [
      ["choose", "left"],
      ["left", "choose"],
    ]) {
      const direct = graphOf({
        choose: { branch: "branch" },
        left: { upstream: ["choose"] },
        join: { upstream, triggerRule: "none_failed_min_one_success" },
      });
      const past = ti("choose", "success", { branchDecision: { kind: "follow", taskIds: ["join"] } });
      expect(decide(direct, none("join"), [past, ti("left", "skipped")])).toEqual({ kind: "schedule" });
    }
  });
});

describe("a short circuit", () => {
  const cut = ti("gate", "success", { branchDecision: { kind: "skip_all" } });
  const tasks = {
    gate: { branch: "short_circuit" },
    near: { upstream: ["gate"] },
    far: { upstream: ["near"], triggerRule: "always" },
    clean: { upstream: ["far"], isTeardown: true },
    nearClean: { upstream: ["gate"], isTeardown: true },
  } as const;

  test("skips everything behind it at any distance, whatever its trigger rule", () => {
    const graph = graphOf(tasks);
    expect(decide(graph, none("near"), [cut])).toMatchObject({ kind: "skipped", reason: "gate cut the DAG short" });
    expect(decide(graph, none("far"), [cut, none("near")])).toMatchObject({ kind: "skipped" });
  });

  test("lets a teardown run, near or far", () => {
    const graph = graphOf(tasks);
    expect(decide(graph, none("clean"), [cut, ti("near", "skipped"), ti("far", "skipped")])).toEqual({
      kind: "schedule",
    });
    expect(decide(graph, none("nearClean"), [cut])).toEqual({ kind: "schedule" });
  });

  test("that respects trigger rules skips only what is directly behind it", () => {
    const graph = graphOf({ ...tasks, gate: { branch: "short_circuit", ignoreDownstreamTriggerRules: false } });
    expect(decide(graph, none("near"), [cut])).toMatchObject({ kind: "skipped" });
    expect(decide(graph, none("far"), [cut, ti("near", "skipped")])).toEqual({ kind: "schedule" });
    const nobody = ti("gate", "success", { branchDecision: { kind: "follow", taskIds: [] } });
    expect(decide(graph, none("near"), [nobody])).toMatchObject({ kind: "skipped" });
    expect(decide(graph, none("nearClean"), [nobody])).toEqual({ kind: "schedule" });
  });
});

describe("setups and teardowns", () => {
  const graph = graphOf({
    make: { isSetup: true },
    work: { upstream: ["make"] },
    more: { upstream: ["work"], triggerRule: "always" },
    other: { upstream: ["make"] },
    clean: { upstream: ["make", "more"], isTeardown: true },
    after: { upstream: ["more", "clean"], triggerRule: "always" },
  });

  test.each([
    ["failed", "upstream_failed"],
    ["upstream_failed", "upstream_failed"],
    ["skipped", "skipped"],
    ["running", "wait"],
    ["success", "schedule"],
  ] as const)("a setup two steps above that is %s decides before the trigger rule: %s", (state, kind) => {
    expect(decide(graph, none("more"), [ti("make", state), none("work")])).toMatchObject({ kind });
  });

  test("a setup whose teardown is done above does not hold what comes after", () => {
    expect(graph.tasks.get("after")?.indirectSetups).toEqual([]);
    const ended = [ti("make", "failed"), ti("more", "success"), ti("clean", "success")];
    expect(decide(graph, none("after"), ended)).toEqual({ kind: "schedule" });
  });

  test("a teardown waits for everything that uses its setup, also what it is not directly behind", () => {
    const scope = graphOf({
      make: { isSetup: true },
      work: { upstream: ["make"] },
      more: { upstream: ["work"], triggerRule: "one_failed" },
      clean: { upstream: ["make", "more"], isTeardown: true },
    });
    expect(scope.tasks.get("clean")?.teardownScope).toEqual(["work"]);
    const open = [ti("make", "success"), ti("more", "success"), ti("work", "running")];
    expect(decide(scope, none("clean"), open)).toEqual({
      kind: "wait",
      reason: "work, which uses what it tears down, is running",
    });
    expect(decide(scope, none("clean"), [...open.slice(0, 2), ti("work", "failed")])).toEqual({ kind: "schedule" });
  });

  test("a teardown runs although the work failed, and not when its setup never was", () => {
    const work = [ti("work", "upstream_failed"), ti("more", "upstream_failed")];
    expect(decide(graph, none("clean"), [ti("make", "success"), ...work])).toEqual({ kind: "schedule" });
    expect(decide(graph, none("clean"), [ti("make", "skipped"), ...work])).toMatchObject({ kind: "skipped" });
    expect(decide(graph, none("clean"), [ti("make", "failed"), ...work])).toMatchObject({ kind: "upstream_failed" });
  });
});

describe("a task", () => {
  const graph = graphOf({
    a: {},
    empty: { operator: "empty", upstream: ["a"] },
    told: { operator: "empty", upstream: ["a"], callbacks: ["onSuccess"] },
  });

  test("waits until its retry or its next poke is due, and then goes", () => {
    expect(decide(graph, ti("a", "up_for_retry", { isDue: false }), [])).toMatchObject({ kind: "wait" });
    expect(decide(graph, ti("a", "up_for_reschedule", { isDue: false }), [])).toMatchObject({ kind: "wait" });
    expect(decide(graph, ti("a", "up_for_retry"), [])).toEqual({ kind: "schedule" });
    expect(decide(graph, ti("a", "up_for_reschedule"), [])).toEqual({ kind: "schedule" });
  });

  test("that is empty completes without a worker, unless it has a callback", () => {
    expect(decide(graph, none("empty"), [ti("a", "success")])).toEqual({ kind: "complete" });
    expect(decide(graph, none("told"), [ti("a", "success")])).toEqual({ kind: "schedule" });
  });

  test("that waits says for what", () => {
    expect(decide(graph, none("empty"), [ti("a", "deferred")])).toEqual({
      kind: "wait",
      reason: "trigger rule all_success: a is deferred",
    });
  });

  test("counts every index of a mapped upstream", () => {
    const mapped = [ti("a", "success", { mapIndex: 0 }), ti("a", "running", { mapIndex: 1 })];
    expect(decide(graph, none("empty"), mapped)).toMatchObject({ kind: "wait" });
  });

  test("behind a removed task waits for ever, but not behind an instance for which there is no element any more", () => {
    expect(decide(graph, none("told"), [ti("a", "removed")])).toMatchObject({ kind: "wait" });
    const upstream = [ti("a", "success", { mapIndex: 0 }), ti("a", "removed", { mapIndex: 1 })];
    expect(decide(graph, none("told"), upstream)).toEqual({ kind: "schedule" });
  });
});
