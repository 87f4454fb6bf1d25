import { describe, expect, it } from "vitest";
import { AirflowFailException, AirflowSkipException, Bundle, Dag, FailTask, SkipTask } from "../index.ts";
import { failure, FakeHost, run, runRequest } from "./fake-host.ts";
import { artifact } from "./index.ts";

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
    expect(await failure(run(() => ({ rows: [{ amount: () => 1 }] }) as never))).toBe(
      "ValueNotStorable: $.rows[0].amount is a function, which cannot be stored: return the data that it would compute",
    );
    expect(await run(() => /x/ as never)).toMatchObject({ kind: "failed", retryable: true });
    expect(await failure(run(() => "x".repeat(100), { maxXComBytes: 50 }))).toContain(
      "is 100 characters, and the limit of the whole is 50 bytes",
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

describe("Bundle", () => {
  it("is accepted and does nothing", async () => {
    const bundle = new Bundle().register(new Dag("bundled"));
    expect(await bundle.serve()).toBeUndefined();
  });
});
