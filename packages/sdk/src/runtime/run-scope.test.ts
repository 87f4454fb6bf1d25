import { isDeepStrictEqual } from "node:util";
import { describe, expect, it } from "vitest";
import { Asset, Dag, getClient, getContext, type Json } from "../index.ts";
import { failure, FakeHost, run, runRequest } from "./fake-host.ts";
import { artifact } from "./index.ts";

describe("a running handler", () => {
  it("knows what it is", async () => {
    const outcome = await run(
      () => {
        const { signal, logicalDate, dataIntervalEnd, runAfter, ...rest } = getContext();
        return {
          ...rest,
          aborted: signal.aborted,
          dates: [logicalDate, dataIntervalEnd, runAfter].map((date) => date?.getTime() ?? null),
        };
      },
      {
        dagId: "whoami",
        mapIndex: 3,
        tryNumber: 2,
        maxTries: 4,
        logicalDate: null,
        dataIntervalStart: null,
        runType: "manual",
        conf: { a: 1 },
      },
    );
    const id = `whoami/scheduled__2026-01-01T00:00:00+00:00/only/3`;
    expect(outcome).toEqual({
      kind: "success",
      returnValue: {
        dagId: "whoami",
        taskId: "only",
        runId: "scheduled__2026-01-01T00:00:00+00:00",
        tryNumber: 2,
        maxTries: 4,
        mapIndex: 3,
        dataIntervalStart: null,
        runType: "manual",
        partitionKey: null,
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

  it("reads XComs, its own unless it says which, and writes its own", async () => {
    const host = new FakeHost();
    await run(
      async () => {
        await getClient().setXCom({ key: "k", value: { a: undefined, b: 1 } });
        await getClient().setXCom({ key: "own", value: 2, taskId: "only", mapIndex: 4 });
      },
      { host, dagId: "writes", mapIndex: 4 },
    );
    const runId = "scheduled__2026-01-01T00:00:00+00:00";
    expect(Object.fromEntries(host.xcoms)).toEqual({
      [`writes/${runId}/only/4/k`]: { b: 1 },
      [`writes/${runId}/only/4/own`]: 2,
    });
    for (const other of [{ taskId: "other" }, { dagId: "d" }, { runId: "r" }, { mapIndex: 3 }]) {
      const set = run(() => getClient().setXCom({ key: "k", value: 1, ...other }), { host, mapIndex: 4 });
      expect(await failure(set)).toContain("a task sets XComs of its own only");
    }
    host.xcoms.set(`reads/${runId}/up/-1/return_value`, 7);
    expect(
      await run(() => getClient().getXCom<number>({ taskId: "up" }), { host, dagId: "reads", mapIndex: 4 }),
    ).toMatchObject({
      returnValue: 7,
    });
    expect(await run(() => getClient().getXCom({ key: "none" }), { host })).toEqual({ kind: "success" });
    expect(await failure(run(() => getClient().setXCom({ key: "", value: 1 }), { host }))).toContain(
      "has 1 to 512 characters, got 0",
    );
    expect(await failure(run(() => getClient().setXCom({ key: "k", value: /x/ }), { host }))).toContain(
      "$ is an instance of RegExp",
    );
  });

  it("keeps values about assets as XComs are kept", async () => {
    const host = new FakeHost();
    const orders = new Asset({ name: "orders" });
    const value = { at: new Date(5), seen: new Set([1n]) };
    await run(() => getClient().assetStateStore.forAsset(orders).set("read_to", value), { host });
    expect(host.assetStates.get("orders read_to")).toEqual({
      at: { $millrace: "date", value: value.at.toISOString() },
      seen: { $millrace: "set", value: [{ $millrace: "bigint", value: "1" }] },
    });
    const outcome = await run(
      async () => isDeepStrictEqual(await getClient().assetStateStore.forAsset(orders).get("read_to"), value),
      { host },
    );
    expect(outcome).toMatchObject({ returnValue: true });
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
          // As Airflow's SDK has them, and not twice in a copy.
          airflow: [connection.id, connection.type, Object.keys(connection).length],
          none: (await client.getConnection("x")) === undefined,
        };
      },
      { host },
    );
    expect(outcome).toEqual({
      kind: "success",
      returnValue: { a: null, b: "2", host: "h", airflow: ["db", "postgres", 3], none: true },
    });
    expect(await failure(run(() => getClient().getVariableOrThrow("no")))).toBe('NotFound: there is no variable "no"');
    expect(await failure(run(() => getClient().getConnectionOrThrow("no")))).toBe(
      'NotFound: there is no connection "no"',
    );
    expect(await failure(run(() => getClient().setVariable("n", 1 as never)))).toContain(
      'variable "n" must be a string, got number',
    );
  });
});

function withResolvers(): { promise: Promise<void>; resolve: () => void } {
  let resolve = (): void => {};
  const promise = new Promise<void>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}
