// Waiting for a run over HTTP, and what comes of it.
import { markDagResults } from "@millrace/shared/db";
import { beforeEach, expect, test } from "vitest";
import { seedDag, seedRun } from "../fixtures/seed.ts";
import { testApi } from "../fixtures/test-api.ts";

const { get, db, database } = await testApi();

beforeEach(async () => {
  await database.reset();
  await seedDag(db, "report");
  await seedRun(db, "report", "r");
  await db.read("insert into variable (key, val) values ('api_token', 'c4n4ry-of-a-result')");
});

const wait = async (query: string) => await get(`/api/v2/dags/report/dagRuns/r/wait?${query}`);
const linesOf = (body: string) =>
  body
    .trim()
    .split("\n")
    .map((line) => JSON.parse(line) as { state: string; results?: object });
const end = async (state: string) => {
  await db.read("update dag_run set state = 'running' where state = 'queued'");
  await db.read("update dag_run set state = $1", [state]);
};

test("a line for each look and, with the last, the results of the tasks that were asked for", async () => {
  const waiting = wait("interval=0.2&result=extract&result=nope");
  await end("success");
  const { headers, body } = await waiting;
  expect(headers["content-type"]).toContain("application/x-ndjson");
  const lines = linesOf(body);
  expect(lines.slice(0, -1).every(({ state }) => ["queued", "running"].includes(state))).toBe(true);
  expect(lines.at(-1)).toEqual({ state: "success", results: { extract: { rows_read: 7 } } });
});

test("of those that return the run's result when none is named, with secrets masked, and mapped ones as lists", async () => {
  await end("failed");
  expect(linesOf((await wait("interval=1")).body)).toEqual([{ state: "failed" }]);
  const [ti] = await db.read<{ id: string }>("select id from task_instance where task_id = 'extract'");
  await db.run(markDagResults, [[ti?.id ?? ""]]);
  for (const [index, value] of ['"c4n4ry-of-a-result"', "2"].entries()) {
    await db.read(
      `insert into xcom (dag_run_id, task_id, map_index, key, dag_id, run_id, value, dag_result)
       select id, 'each', $1, 'return_value', dag_id, run_id, $2::jsonb, true from dag_run`,
      [index, value],
    );
  }
  expect(linesOf((await wait("interval=1")).body)).toEqual([
    { state: "failed", results: { each: ["***", 2], extract: { rows_read: 7 } } },
  ]);
});

test("a run that there is not, and an interval of nothing, are refused", async () => {
  expect((await get("/api/v2/dags/report/dagRuns/nope/wait?interval=1")).statusCode).toBe(404);
  expect([400, 422]).toContain((await wait("interval=0")).statusCode);
  expect([400, 422]).toContain((await wait("")).statusCode);
});
