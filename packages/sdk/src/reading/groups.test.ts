import { describe, expect, it } from "vitest";
import { Dag } from "../index.ts";

function upstreamOf(dag: Dag): Record<string, readonly string[]> {
  return Object.fromEntries(dag.spec().tasks.map((task) => [task.taskId, task.upstream]));
}

describe("edges at task groups", () => {
  it("enter at the roots and leave from the leaves, over nested groups", () => {
    const dag = new Dag("nested");
    const outer = dag.taskGroup("outer", { tooltip: "all of it" });
    const inner = outer.taskGroup("inner");
    const first = outer.task("first", () => 1)();
    const [x, y] = [inner.task("x", () => 1)(), inner.task("y", () => 1)()];
    x.before(y);
    // Declared before the edge inside the group that decides what its roots are.
    dag
      .task("start", () => 1)()
      .before(outer);
    outer.before(dag.task("end", () => 1)());
    first.before(inner);
    expect(upstreamOf(dag)).toEqual({
      "outer.first": ["start"],
      "outer.inner.x": ["outer.first"],
      "outer.inner.y": ["outer.inner.x"],
      start: [],
      end: ["outer.inner.y"],
    });
    expect(dag.spec().groups).toEqual([
      { groupId: "outer", tooltip: "all of it" },
      { groupId: "outer.inner", parentGroupId: "outer" },
    ]);
  });

  it("connect every leaf of one group with every root of the next", () => {
    const dag = new Dag("two_groups");
    const [left, right] = [dag.taskGroup("left"), dag.taskGroup("right")];
    for (const group of [left, right]) for (const id of ["a", "b"]) group.task(id, () => 1)();
    expect(left.before(right)).toBe(left);
    expect(upstreamOf(dag)).toMatchObject({ "right.a": ["left.a", "left.b"], "right.b": ["left.a", "left.b"] });
  });

  it("step over empty groups, any number of them", () => {
    const dag = new Dag("empty_groups");
    const [a, b] = [dag.task("a", () => 1)(), dag.task("b", () => 1)()];
    const [one, two] = [dag.taskGroup("one"), dag.taskGroup("two")];
    one.taskGroup("nested");
    a.before(one);
    one.before(two);
    two.before(one, b);
    expect(upstreamOf(dag)).toEqual({ a: [], b: ["a"] });
  });

  it("cannot lead from a group into itself", () => {
    const dag = new Dag("inside");
    const group = dag.taskGroup("group");
    group.before(group.task("member", () => 1)());
    expect(() => dag.spec()).toThrow('group "group" before task "group.member": a group cannot wait for itself');
  });

  it("leave a group without waiting for its teardowns", () => {
    const dag = new Dag("group_teardown");
    const group = dag.taskGroup("group");
    const [create, work, remove] = ["create", "work", "remove"].map((id) => group.task(id, () => 1)()) as [
      never,
      never,
      never,
    ];
    connectTeardown(create, work, remove);
    group.before(dag.task("after", () => 1)());
    expect(upstreamOf(dag)).toMatchObject({
      "group.work": ["group.create"],
      "group.remove": ["group.create", "group.work"],
      after: ["group.work"],
    });
  });
});

function connectTeardown(
  create: ReturnType<typeof ref>,
  work: ReturnType<typeof ref>,
  remove: ReturnType<typeof ref>,
): void {
  create.before(work);
  work.before(remove);
  remove.asTeardown({ setups: create });
}
const ref = () => new Dag("unused").task("t", () => 1)();

describe("the options that a group gives to its tasks", () => {
  it("are those of the innermost group that has them, under the task's own", () => {
    const dag = new Dag("defaults", { queue: "of_dag" });
    const outer = dag.taskGroup("outer", { defaults: { retries: 3, queue: "outer", pool: "outer" } });
    const inner = outer.taskGroup("inner", { defaults: { retries: 1, executionTimeout: 5 } });
    outer.task("a", () => 1)();
    inner.task("b", () => 1)();
    inner.task("c", () => 1, { retries: 0, pool: undefined as never, queue: "own" })();
    dag.task("d", () => 1)();
    const options = dag
      .spec()
      .tasks.map(({ taskId, retries, queue, pool, executionTimeout }) => [
        taskId,
        retries,
        queue,
        pool,
        executionTimeout,
      ]);
    expect(options).toEqual([
      ["outer.a", 3, "outer", "outer", undefined],
      ["outer.inner.b", 1, "outer", "outer", 5],
      ["outer.inner.c", 0, "own", "outer", 5],
      ["d", 0, "of_dag", "default_pool", undefined],
    ]);
  });

  it("are checked with the group, and are none that only a task can have", () => {
    const dag = new Dag("wrong_defaults");
    dag.taskGroup("g", { defaults: { retres: 1, triggerRule: "all_done", taskId: "x", retries: -1 } as never });
    expect(() => dag.spec()).toThrow(
      /"g": defaults: unknown option "retres"; did you mean "retries"\?; unknown option "triggerRule": it belongs to the task itself; .*"taskId".*; retries must be/,
    );
    const none = new Dag("no_defaults");
    none.taskGroup("g", { defaults: 3 as never });
    expect(() => none.spec()).toThrow(/"g": defaults/);
  });
});

describe("setups and teardowns", () => {
  it("mark the setups, draw the edge and set the trigger rule", () => {
    const dag = new Dag("teardown");
    const create = dag.task("create", () => 1)();
    const remove = dag
      .task("remove", () => 1)()
      .asTeardown({ setups: [create], onFailureFailDagrun: true });
    dag
      .task("extra", () => 1)()
      .asSetup()
      .before(remove);
    expect(dag.spec().tasks).toMatchObject([
      { taskId: "create", isSetup: true, isTeardown: false, triggerRule: "all_success" },
      {
        taskId: "remove",
        isSetup: false,
        isTeardown: true,
        onFailureFailDagrun: true,
        triggerRule: "all_done_setup_success",
        upstream: ["create", "extra"],
      },
      { taskId: "extra", isSetup: true },
    ]);
  });

  it("cannot be both, and cannot have another trigger rule", () => {
    const dag = new Dag("both");
    const task = dag.task("task", () => 1, { triggerRule: "all_done" })();
    task.asTeardown().asSetup();
    expect(() => dag.spec()).toThrow(
      /is a teardown and cannot be a setup[^]*must be left out or "all_done_setup_success"/,
    );
  });

  it("ask all_success of what follows a setup, and of everything with failFast", () => {
    const dag = new Dag("rules", { failFast: true });
    const setup = dag
      .task("setup", () => 1)()
      .asSetup();
    dag
      .task("next", () => 1, { triggerRule: "all_done" })()
      .after(setup);
    dag
      .task("remove", () => 1)()
      .asTeardown({ setups: setup });
    expect(() => dag.spec()).toThrow(
      /"next" follows the setup "setup" and must use all_success, not all_done[^]*"next" must use all_success, not all_done, in a DAG with failFast$/,
    );
  });
});
