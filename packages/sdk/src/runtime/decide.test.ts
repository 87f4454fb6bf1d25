import { describe, expect, it } from "vitest";
import { Dag, type Json } from "../index.ts";
import { branch, empty, shortCircuit } from "../operators/index.ts";
import { failure, FakeHost, runRequest } from "./fake-host.ts";
import { artifact, type TaskOutcome } from "./index.ts";

describe("branches", () => {
  /** pick → a, b, join; a → join; b → join; always is downstream of pick only. */
  function diamond(dagId: string, decide: (arms: Record<"a" | "b", never>) => unknown): Promise<TaskOutcome> {
    const dag = new Dag(dagId);
    const [a, b] = [dag.task("a", empty())(), dag.task("b", empty())()];
    const join = dag.task("join", empty(), { triggerRule: "none_failed_min_one_success" })().after(a, b);
    const other = dag.task("other", empty())();
    const pick = dag.task(
      "pick",
      branch(() => decide({ a, b } as never) as string),
    )();
    pick.before(a, b, join, other);
    return artifact.run(runRequest(dagId, "pick"), new FakeHost());
  }

  it("follow what branch() returns, and the joins behind it", async () => {
    const follow = (taskIds: string[]) => ({ kind: "success", branch: { kind: "follow", taskIds } });
    expect(await diamond("branch_ref", ({ a }) => a)).toMatchObject({ ...follow(["a", "join"]), returnValue: "a" });
    expect(await diamond("branch_id", () => "b")).toMatchObject({ ...follow(["b", "join"]), returnValue: "b" });
    expect(await diamond("branch_two", ({ a }) => [a, "other"])).toMatchObject({
      ...follow(["a", "join", "other"]),
      returnValue: ["a", "other"],
    });
    expect(await diamond("branch_none", () => null)).toMatchObject(follow([]));
    expect(await failure(diamond("branch_wrong", () => "c"))).toBe(
      'TypeError: task "pick" chose "c", which is not directly downstream of it; those are: a, b, join, other',
    );
  });

  it("lead into groups at their roots", async () => {
    const dag = new Dag("branch_group");
    const group = dag.taskGroup("group");
    const [x, y] = [group.task("x", empty())(), group.task("y", empty())()];
    x.before(y);
    const other = dag.task("other", empty())();
    const yes = dag.task("yes", () => true)();
    dag.if(yes).then(group).else(other);
    const pick = dag.task(
      "pick",
      branch(() => "group"),
    )();
    pick.before(group, other);
    for (const id of ["yes", "pick"]) {
      expect(await artifact.run(runRequest("branch_group", id), new FakeHost())).toMatchObject({
        branch: { kind: "follow", taskIds: ["group.x"] },
      });
    }
  });

  it("of a one-sided if skip only its then, and no other task downstream", async () => {
    for (const value of [true, false]) {
      const dag = new Dag(`one_sided_${value}`);
      const condition = dag.task("condition", () => value)();
      const [guarded, reader] = [
        dag.task("guarded", () => 1)(),
        dag.task("reader", (_: { condition: boolean }) => 1)({ condition }),
      ];
      dag.if(condition).then(guarded);
      expect(reader.taskId).toBe("reader");
      expect(await artifact.run(runRequest(dag.dagId, "condition"), new FakeHost())).toEqual({
        kind: "success",
        returnValue: value,
        branch: { kind: "follow", taskIds: value ? ["guarded", "reader"] : ["reader"] },
      });
    }
  });

  it("fail when the decider returns what decides nothing", async () => {
    const dag = new Dag("undecided");
    const [a, b] = [dag.task("a", empty())(), dag.task("b", empty())()];
    dag.if(dag.task("condition", () => 1 as never)()).then(a);
    dag.switch(dag.task("decider", () => b)()).case(a);
    dag.task("stray", () => a)();
    const fail = (id: string) => failure(artifact.run(runRequest("undecided", id), new FakeHost()));
    expect(await fail("condition")).toContain("is the condition of a dag.if(…) and must return true or false, got 1");
    expect(await fail("decider")).toContain('must return one of the cases of its dag.switch(…): a; got "b"');
    expect(await fail("stray")).toContain('task "stray" returned a reference to "a", which is no value');
  });

  it("are not promises", async () => {
    const dag = new Dag("awaited");
    const condition = dag.task("condition", () => true)();
    await expect(async () => {
      await (dag.if(condition) as unknown);
    }).rejects.toThrow("Drop the await");
    expect("then" in dag.if(dag.task("second", () => true)()).then(condition)).toBe(false);
  });

  it("need their arms, and a task decides only once", () => {
    const dag = new Dag("armless");
    const [a, b, c] = ["a", "b", "c"].map((id) => dag.task(id, () => true)()) as [never, never, never];
    dag.if(a);
    dag.switch(b);
    dag.if(b).then(c);
    dag.switch("c" as never).case(a);
    expect(() => dag.spec()).toThrow(
      /"b" decides a branch already[^]*dag\.switch\(…\) takes the reference[^]*dag\.if\(…\) of task "a" has no then\(…\)[^]*dag\.switch\(…\) of task "b" has no case\(…\)/,
    );
  });

  it("of shortCircuit go on for what is true, and skip everything or only what is next", async () => {
    const dag = new Dag("short");
    const next = dag.task("next", empty())();
    dag
      .task(
        "all",
        shortCircuit(({ value }: { value: Json }) => value),
      )({ value: 1 })
      .before(next);
    dag
      .task(
        "direct",
        shortCircuit(() => [], { ignoreDownstreamTriggerRules: false }),
      )()
      .before(next);
    const all = (value: Json) => artifact.run(runRequest("short", "all", { inputs: { value } }), new FakeHost());
    expect(await all("yes")).toEqual({ kind: "success", returnValue: "yes" });
    for (const value of [false, 0, "", null, [], {}]) {
      expect(await all(value)).toEqual({ kind: "success", returnValue: value, branch: { kind: "skip_all" } });
    }
    expect(await artifact.run(runRequest("short", "direct"), new FakeHost())).toMatchObject({
      branch: { kind: "follow", taskIds: [] },
    });
    expect(dag.spec().tasks).toMatchObject([
      { operator: "empty" },
      { operator: "short_circuit", branch: "short_circuit", ignoreDownstreamTriggerRules: true },
      { ignoreDownstreamTriggerRules: false },
    ]);
  });
});
