import { Dag, getClient, getContext } from "../../index.ts";
import { branch } from "../../operators/index.ts";
import { expect, test } from "vitest";

function salesDag() {
  const dag = new Dag("sales", { schedule: "@daily" });
  const extract = dag.task("extract", async () => [Number(await getClient().getVariable("first")), 2])();
  const sum = dag.task("sum", ({ rows, plus }: { rows: number[]; plus: number }) => {
    process.stdout.write(`adding ${rows.length} rows\n`);
    return rows.reduce((a, b) => a + b, plus);
  })({ rows: extract, plus: 0 });
  dag.task(
    "load",
    ({ total }: { total: number }) => `${getContext().conf["table"] as string}:${total}`,
  )({ total: sum });
  return dag;
}

test("handlers run for real, with values, logs and XComs to look at", async () => {
  const { state, tasks } = await salesDag().test({ conf: { table: "t" }, variables: { first: "5" } });
  expect(state).toBe("success");
  expect(tasks).toMatchObject({
    extract: { state: "success", value: [5, 2], tryNumber: 1 },
    sum: { value: 7, logs: [{ level: "info", message: "adding 2 rows" }] },
    load: { value: "t:7", xcoms: { return_value: "t:7" } },
  });
});

test("a mock is a value, a function of the argument, or an error", async () => {
  const mocks = { extract: [1, 2, 3], load: ({ total }: { total: number }) => ({ total, run: getContext().runId }) };
  const { tasks } = await salesDag().test({ logicalDate: new Date("2026-01-31T00:00:00Z"), mocks });
  expect(tasks["load"]?.value).toEqual({ total: 6, run: "manual__2026-01-31T00:00:00.000Z" });
  const failed = await salesDag().test({ mocks: { extract: new RangeError("no rows") } });
  expect(failed.state).toBe("failed");
  expect(failed.tasks).toMatchObject({
    extract: { state: "failed", error: { name: "RangeError", message: "no rows" } },
    sum: { state: "upstream_failed" },
  });
});

test("names of an argument can be given in place of what the upstream returns", async () => {
  const { tasks } = await salesDag().test({ mocks: { extract: [1] }, inputs: { sum: { plus: 10 } } });
  expect(tasks["sum"]?.value).toBe(11);
});

test("one task alone has the values that are given for its upstreams", async () => {
  const { state, tasks } = await salesDag().test({ only: "sum", mocks: { extract: [4, 5] } });
  expect(state).toBe("success");
  expect(Object.keys(tasks)).toEqual(["sum"]);
  expect(tasks["sum"]?.value).toBe(9);
});

test("a mocked decider still decides", async () => {
  const dag = new Dag("deciding");
  const choose = dag.task(
    "choose",
    branch(() => "a"),
  )();
  for (const id of ["a", "b"])
    dag
      .task(id, () => 1)()
      .after(choose);
  const { tasks } = await dag.test({ mocks: { choose: "b" } });
  expect(tasks).toMatchObject({ a: { state: "skipped" }, b: { state: "success" } });
});

test("a mock of a task that there is not is an error that names those there are", async () => {
  await expect(salesDag().test({ mocks: { extrct: [] } })).rejects.toThrow(
    "DAG sales has no task extrct; it has extract, sum, load",
  );
});

test("params have their defaults, and those without one have to be given", async () => {
  const params = { day: { schema: { type: "string" } }, rows: { default: 3, schema: { type: "integer" } } } as const;
  const dag = new Dag("params", { params });
  dag.task("show", () => getContext().params)();
  await expect(dag.test()).rejects.toThrow('DAG "params" needs params that have no default: give day in conf');
  const { tasks } = await dag.test({ conf: { day: "2026-01-31" } });
  expect(tasks["show"]?.value).toEqual({ day: "2026-01-31", rows: 3 });
});
