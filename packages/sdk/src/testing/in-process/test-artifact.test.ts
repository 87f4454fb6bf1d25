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

test("values that JSON does not have come back as they were, returned or mocked", async () => {
  const value = { at: new Date(5), rows: 12n, by: new Map([["eu", new Set([1])]]) };
  const dag = new Dag("odd_values");
  const load = dag.task("load", () => value)();
  dag.task("report", async ({ at }: { at: Date }) => {
    await getClient().setXCom({ key: "until", value: at });
    return at.getTime();
  })({ at: load.get("at") });
  for (const mocks of [{}, { load: () => value }]) {
    const { tasks } = await dag.test({ mocks });
    expect(tasks["load"]?.value).toEqual(value);
    expect(tasks["report"]?.xcoms).toEqual({ return_value: 5, until: new Date(5) });
  }
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
  await expect(dag.test()).rejects.toThrow("DAG params cannot be run with these params:\n  - day: is required");
  const { tasks } = await dag.test({ conf: { day: "2026-01-31" } });
  expect(tasks["show"]?.value).toEqual({ day: "2026-01-31", rows: 3 });
});

test("params that do not fit their schemas are refused with every violation, as by a trigger", async () => {
  const day = { schema: { type: "string", format: "date", maxLength: 3 } } as const;
  const dag = new Dag("params", { params: { day, rows: { default: 3, schema: { type: "integer", minimum: 1 } } } });
  let hasRun = false;
  dag.task("show", () => (hasRun = true))();
  const error: unknown = await dag.test({ conf: { day: "someday", rows: 0.5 } }).catch((thrown: unknown) => thrown);
  expect(error).toMatchObject({ code: "RUN_PARAMS_INVALID" });
  expect(String(error)).toContain('day: must match format "date"');
  expect(String(error)).toContain("day: must NOT have more than 3 characters");
  expect(String(error)).toContain("rows: must be integer");
  expect(String(error)).toContain("rows: must be >= 1");
  expect(hasRun).toBe(false);
});
