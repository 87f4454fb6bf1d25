import { describe, expect, it } from "vitest";
import { Dag, getClient, getContext, type DagCallbackEvent, type TaskCallbackEvent } from "../index.ts";
import { FakeHost, run, runRequest } from "./fake-host.ts";
import { artifact } from "./index.ts";
import type { CallbackRequest } from "./protocol.ts";

function callbackRequest(dagId: string, changes: Partial<CallbackRequest> = {}): CallbackRequest {
  const { inputs: _, ...request } = runRequest(dagId, "t");
  return { ...request, key: "k1", kind: "onFailure", reason: null, error: null, runState: "running", ...changes };
}

const call = async (request: CallbackRequest, host = new FakeHost()) => await artifact.runCallback?.(request, host);

describe("a task's callbacks", () => {
  it("are told of the attempt, the reason and the error, and have its context and a client", async () => {
    const seen: unknown[] = [];
    const onFailure = async (event: TaskCallbackEvent) => {
      const { taskId, tryNumber, idempotencyKey, params } = getContext();
      seen.push(event, { taskId, tryNumber, idempotencyKey, params }, await getClient().getVariable("channel"));
    };
    const dag = new Dag("callback_context");
    dag.task("t", () => 1, { onFailure })();
    const host = new FakeHost();
    host.variables.set("channel", "#alerts");
    const error = { name: "TypeError", message: "no rows" };
    const reason = "TypeError: no rows";
    expect(await call(callbackRequest("callback_context", { tryNumber: 3, reason, error }), host)).toEqual({
      kind: "success",
    });
    const { runId } = runRequest("", "");
    expect(seen).toEqual([
      { dagId: "callback_context", taskId: "t", runId, mapIndex: -1, tryNumber: 3, key: "k1", reason, error },
      { taskId: "t", tryNumber: 3, idempotencyKey: "k1", params: {} },
      "#alerts",
    ]);
  });

  it("run all, in their order, though some throw; the outcome names each that did", async () => {
    const seen: string[] = [];
    const dag = new Dag("callback_list");
    const onRetry = [
      () => {
        seen.push("first");
        throw new TypeError("broken");
      },
      async () => {
        seen.push("second");
        await Promise.reject(new Error("also"));
      },
      () => seen.push("third"),
    ];
    dag.task("t", () => 1, { onRetry })();
    expect(await call(callbackRequest("callback_list", { kind: "onRetry" }))).toMatchObject({
      kind: "failed",
      errors: [
        { name: "TypeError", message: "broken" },
        { name: "Error", message: "also" },
      ],
    });
    expect(seen).toEqual(["first", "second", "third"]);
  });

  it("cannot go on after their end", async () => {
    let late: (() => unknown) | undefined;
    const dag = new Dag("callback_late");
    dag.task("t", () => 1, { onSuccess: () => void (late = () => getClient().getVariable("x")) })();
    const { client } = await new Promise<{ client: { getVariable(key: string): Promise<unknown> } }>((resolve) => {
      const other = new Dag("callback_late_client");
      other.task("t", () => 1, { onSuccess: () => resolve({ client: getClient() }) })();
      void call(callbackRequest("callback_late_client", { kind: "onSuccess" }));
    });
    await call(callbackRequest("callback_late", { kind: "onSuccess" }));
    expect(late).toThrow(/only while/);
    await expect(client.getVariable("x")).rejects.toThrow(/had ended/);
  });

  it("end as failed when the file has no such callback, task or DAG", async () => {
    const dag = new Dag("callback_none");
    dag.task("t", () => 1)();
    const message = async (request: CallbackRequest) => {
      const outcome = await call(request);
      return outcome?.kind === "failed" ? outcome.errors[0]?.message : outcome?.kind;
    };
    expect(await message(callbackRequest("callback_none"))).toBe("t has no onFailure");
    expect(await message(callbackRequest("callback_none", { taskId: "u" }))).toContain('has no task "u"');
    expect(await message(callbackRequest("callback_nowhere"))).toBe('this file has no DAG "callback_nowhere"');
  });

  it("are not called once the host wants them to stop", async () => {
    const dag = new Dag("callback_stopped");
    dag.task("t", () => 1, { onFailure: () => expect.unreachable() })();
    const host = new FakeHost();
    host.controller.abort(new Error("too long"));
    expect(await call(callbackRequest("callback_stopped"), host)).toMatchObject({
      kind: "failed",
      errors: [{ message: "too long" }],
    });
  });
});

describe("a DAG's callbacks", () => {
  it("are told of the run, its state and the reason", async () => {
    const seen: DagCallbackEvent[] = [];
    const dag = new Dag("callback_dag", {
      onFailure: (event) => seen.push(event),
      onSuccess: [(event) => seen.push(event), (event) => seen.push({ ...event, key: getContext().taskId })],
    });
    dag.task("t", () => 1, { onFailure: () => expect.unreachable() })();
    const request = callbackRequest("callback_dag", { taskId: null, reason: "task_failure", runState: "failed" });
    expect(await call({ ...request, kind: "dagOnFailure" })).toEqual({ kind: "success" });
    const { runId } = request;
    expect(seen).toEqual([{ dagId: "callback_dag", runId, state: "failed", reason: "task_failure", key: "k1" }]);
    seen.length = 0;
    await call({ ...request, kind: "dagOnSuccess", runState: "success", reason: "success" });
    expect(seen).toMatchObject([{ state: "success", reason: "success" }, { key: "" }]);
  });
});

describe("onExecute", () => {
  it("runs right before the handler, in its context; what it throws is logged and harms nothing", async () => {
    const seen: unknown[] = [];
    const host = new FakeHost();
    const onExecute = [
      (event: TaskCallbackEvent) => {
        seen.push(event.key, getContext().taskId);
        throw new Error("no such channel");
      },
      async () => {
        await Promise.resolve();
        seen.push("second");
      },
    ];
    const outcome = await run(() => seen.push("handler"), {
      host,
      dagId: "execute",
      runId: "r",
      options: { onExecute },
    });
    expect(outcome).toEqual({ kind: "success", returnValue: 4 });
    expect(seen).toEqual(["execute/r/only/-1/1/onExecute", "only", "second", "handler"]);
    expect(host.lines.map((line) => line.message)).toEqual([
      expect.stringMatching(/^onExecute failed: Error: no such/),
    ]);
  });
});

describe("an artifact", () => {
  it("reads a DAG once, however many of its tasks it runs", async () => {
    let looks = 0;
    const dag = new Dag("read_once", Object.defineProperty({}, "tags", { enumerable: true, get: () => (looks++, []) }));
    for (let i = 0; i < 100; i++) dag.task(`t${i}`, () => i, { onFailure: () => {} })();
    dag.spec();
    const once = looks;
    for (let i = 0; i < 100; i++) {
      expect(await artifact.run(runRequest("read_once", `t${i}`), new FakeHost())).toMatchObject({ returnValue: i });
      await call(callbackRequest("read_once", { taskId: `t${i}` }));
    }
    expect(once).toBeGreaterThan(0);
    expect(looks).toBe(once);
  });
});
