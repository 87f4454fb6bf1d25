import { describe, expect, it } from "vitest";
import {
  AirflowFailException,
  AirflowSkipException,
  Bundle,
  Dag,
  FailTask,
  getClient,
  getContext,
  SkipTask,
} from "../index.ts";
import type { Json, TaskOptions } from "../index.ts";
import { branch, empty, shortCircuit } from "../operators/index.ts";
import { FakeHost, runRequest } from "./fake-host.ts";
import { artifact, type RunRequest, type TaskOutcome } from "./index.ts";

let count = 0;

/** Runs a handler as the only task of a DAG. The value is checked here at run time, so types let everything pass. */
function run(
  handler: () => unknown,
  {
    host = new FakeHost(),
    options = {},
    ...changes
  }: Partial<RunRequest> & { host?: FakeHost; options?: TaskOptions } = {},
): Promise<TaskOutcome> {
  const dag = new Dag(`run_${++count}`);
  dag.task("only", handler, options)();
  return artifact.run(runRequest(dag.dagId, "only", changes), host);
}

async function failure(outcome: Promise<TaskOutcome>): Promise<string> {
  const end = await outcome;
  return end.kind === "failed" ? `${end.error.name}: ${end.error.message}` : `no failure but ${end.kind}`;
}

describe("the outcome of a handler", () => {
  it("is success with the value, which may be null but not undefined", async () => {
    expect(await run(async () => ({ a: 1 }))).toEqual({ kind: "success", returnValue: { a: 1 } });
    expect(await run(() => null)).toEqual({ kind: "success", returnValue: null });
    expect(await run(() => {})).toEqual({ kind: "success" });
  });

  it("leaves out the value of a task that does not push, whatever it is", async () => {
    expect(await run(() => 1n, { options: { doXcomPush: false } })).toEqual({ kind: "success" });
  });

  it("hands the inputs over as one object of named arguments", async () => {
    const dag = new Dag("arguments");
    dag.task("sum", ({ a, b = 5 }: { a: number; b?: number }) => a + b)({ a: 1 });
    const request = runRequest("arguments", "sum", { inputs: { a: 2 } });
    expect(await artifact.run(request, new FakeHost())).toEqual({ kind: "success", returnValue: 7 });
  });

  it("is skipped for SkipTask and a failure without retry for FailTask", async () => {
    expect(AirflowSkipException).toBe(SkipTask);
    expect(AirflowFailException).toBe(FailTask);
    const skip = run(() => {
      throw new SkipTask("no data today");
    });
    expect(await skip).toEqual({ kind: "skipped", message: "no data today" });
    const fail = run(async () => {
      throw new FailTask("wrong password");
    });
    expect(await fail).toMatchObject({
      kind: "failed",
      retryable: false,
      error: { name: "FailTask", message: "wrong password" },
    });
  });

  it("is a failure with a retry for everything else that is thrown, with its causes", async () => {
    const outcome = await run(() => {
      throw new TypeError("outer", { cause: new Error("inner") });
    });
    expect(outcome).toMatchObject({ kind: "failed", retryable: true, error: { name: "TypeError", message: "outer" } });
    const stack = outcome.kind === "failed" ? outcome.error.stack : "";
    expect(stack).toMatch(/run-task\.test\.ts:\d+/);
    expect(stack).toContain("Caused by: Error: inner");
  });

  it.each([
    ["text", /^Error: a value that is no Error was thrown: 'text'$/],
    [undefined, /thrown: undefined$/],
    [{ code: 5 }, /thrown: \{ code: 5 \}$/],
    [Object.create(null), /thrown: \[Object: null prototype\] \{\}$/],
    [
      new Proxy(new Error("x"), {
        get: () => {
          throw new Error("hostile");
        },
      }),
      /cannot be described$/,
    ],
    [new Error("a\u0000b\uD800"), /^Error: a\\0b\uFFFD$/],
    [new Error("x".repeat(100_000)), /^Error: x{16384}… \(100000 characters\)$/],
  ])("describes whatever was thrown (%#)", async (thrown: unknown, message) => {
    expect(
      await failure(
        run(() => {
          throw thrown;
        }),
      ),
    ).toMatch(message);
  });

  it("is a failure that names the place when the value cannot be stored", async () => {
    expect(await failure(run(() => ({ rows: [{ amount: 1n }] })))).toBe(
      "ValueNotStorable: $.rows[0].amount is a BigInt, which JSON does not have: use String(value), or Number(value) if it is small enough",
    );
    expect(await run(() => new Date())).toMatchObject({ kind: "failed", retryable: true });
    expect(await failure(run(() => "x".repeat(100), { maxXComBytes: 50 }))).toContain(
      "is 102 bytes of JSON, and the limit is 50",
    );
  });

  it("is a failure when the DAG or the task is not in the file, or the DAG cannot be read", async () => {
    expect(await failure(artifact.run(runRequest("nowhere", "t"), new FakeHost()))).toBe(
      'TaskNotFound: this file has no DAG "nowhere"',
    );
    new Dag("no_tasks");
    expect(await failure(artifact.run(runRequest("no_tasks", "t"), new FakeHost()))).toBe(
      'TaskNotFound: DAG "no_tasks" has no task "t"',
    );
    new Dag("broken", { tags: [1 as never] });
    expect(await failure(artifact.run(runRequest("broken", "t"), new FakeHost()))).toContain(
      'DAG "broken" cannot be read: ',
    );
  });
});

describe("a running handler", () => {
  it("knows what it is", async () => {
    const outcome = await run(
      () => {
        const { signal, logicalDate, dataIntervalEnd, runAfter, ...rest } = getContext();
        return {
          ...rest,
          aborted: signal.aborted,
          dates: [logicalDate, dataIntervalEnd, runAfter].map((date) => date?.getTime() ?? null),
        } as never;
      },
      {
        mapIndex: 3,
        tryNumber: 2,
        maxTries: 4,
        logicalDate: null,
        dataIntervalStart: null,
        runType: "manual",
        conf: { a: 1 },
      },
    );
    const id = `run_${count}/scheduled__2026-01-01T00:00:00+00:00/only/3`;
    expect(outcome).toEqual({
      kind: "success",
      returnValue: {
        dagId: `run_${count}`,
        taskId: "only",
        runId: "scheduled__2026-01-01T00:00:00+00:00",
        tryNumber: 2,
        maxTries: 4,
        mapIndex: 3,
        dataIntervalStart: null,
        runType: "manual",
        conf: { a: 1 },
        params: {},
        hasMappedDependants: false,
        idempotencyKey: `${id}/2`,
        stableIdempotencyKey: id,
        aborted: false,
        dates: [null, Date.UTC(2026, 0, 2), Date.UTC(2026, 0, 2)],
      },
    });
  });

  it("is told to stop through its signal", async () => {
    const host = new FakeHost();
    const outcome = run(
      async () => {
        const { signal } = getContext();
        await new Promise((_, reject) => {
          signal.addEventListener("abort", () => reject(signal.reason as Error));
          host.controller.abort(new Error("marked as failed"));
        });
      },
      { host },
    );
    expect(await failure(outcome)).toBe("Error: marked as failed");
  });

  it("keeps its context through awaits, apart from handlers that run beside it", async () => {
    const dag = new Dag("side_by_side");
    const handler = async (): Promise<string> => {
      await new Promise((resolve) => setImmediate(resolve));
      return getContext().taskId;
    };
    dag.task("a", handler)();
    dag.task("b", handler)();
    const outcomes = await Promise.all(
      ["a", "b"].map((id) => artifact.run(runRequest("side_by_side", id), new FakeHost())),
    );
    expect(outcomes).toMatchObject([{ returnValue: "a" }, { returnValue: "b" }]);
  });

  it("has no context or client before it starts and after it ended", async () => {
    expect(() => getContext()).toThrow("getContext() works only while a task's handler runs");
    expect(() => getClient()).toThrow("getClient() works only while a task's handler runs");
    const { promise: ended, resolve: end } = withResolvers();
    let late: Promise<unknown> | undefined;
    await run(() => {
      const client = getClient();
      late = ended.then(() => client.setVariable("a", "b"));
    });
    end();
    await expect(late).rejects.toThrow(
      'setVariable() was called after the handler of "only" had ended: await everything it starts',
    );
  });

  it("reads and writes XComs, its own unless it says which", async () => {
    const host = new FakeHost();
    await run(
      async () => {
        await getClient().setXCom({ key: "k", value: { a: undefined, b: 1 } });
        await getClient().setXCom({ key: "k", value: 2, taskId: "other", dagId: "d", runId: "r" });
      },
      { host, mapIndex: 4 },
    );
    const runId = "scheduled__2026-01-01T00:00:00+00:00";
    expect(Object.fromEntries(host.xcoms)).toEqual({
      [`run_${count}/${runId}/only/4/k`]: { b: 1 },
      "d/r/other/-1/k": 2,
    });
    host.xcoms.set(`run_${count + 1}/${runId}/up/-1/return_value`, 7);
    expect(await run(() => getClient().getXCom<number>({ taskId: "up" }), { host, mapIndex: 4 })).toMatchObject({
      returnValue: 7,
    });
    expect(await run(() => getClient().getXCom({ key: "none" }), { host })).toEqual({ kind: "success" });
    expect(await failure(run(() => getClient().setXCom({ key: "", value: 1 }), { host }))).toContain(
      "has 1 to 512 characters, got 0",
    );
    expect(await failure(run(() => getClient().setXCom({ key: "k", value: new Map() }), { host }))).toContain(
      "$ is a Map",
    );
  });

  it("reads and writes variables and connections", async () => {
    const host = new FakeHost();
    host.connections.set("db", { connectionId: "db", connType: "postgres", host: "h" });
    const outcome = await run(
      async (): Promise<Json> => {
        const client = getClient();
        await client.setVariable("a", "1");
        await client.setVariable("b", "2", "why");
        await client.deleteVariable("a");
        const [a, b, connection] = [
          await client.getVariable("a"),
          await client.getVariableOrThrow("b"),
          await client.getConnectionOrThrow("db"),
        ];
        return {
          a: a ?? null,
          b,
          host: connection.host ?? null,
          none: (await client.getConnection("x")) === undefined,
        };
      },
      { host },
    );
    expect(outcome).toEqual({ kind: "success", returnValue: { a: null, b: "2", host: "h", none: true } });
    expect(await failure(run(() => getClient().getVariableOrThrow("no")))).toBe('NotFound: there is no variable "no"');
    expect(await failure(run(() => getClient().getConnectionOrThrow("no")))).toBe(
      'NotFound: there is no connection "no"',
    );
    expect(await failure(run(() => getClient().setVariable("n", 1 as never)))).toContain(
      'variable "n" must be a string, got number',
    );
  });
});

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
    dag.if(dag.task("condition", () => 1 as never as boolean)()).then(a);
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

describe("Bundle", () => {
  it("is accepted and does nothing", async () => {
    const bundle = new Bundle().register(new Dag("bundled"));
    expect(await bundle.serve()).toBeUndefined();
  });
});

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
