// The example that is written for Airflow's own TypeScript SDK, unchanged and with its import, on real processes: it ends
// in the states that its first lines tell.
import { testDatabase, testRedisUrl, waitUntil } from "@millrace/testkit";
import { afterAll, beforeAll, expect, it } from "vitest";
import { openFleet, type Fleet } from "./fleet.ts";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
let fleet: Fleet;

beforeAll(async () => {
  fleet = await openFleet(database, redisUrl, database.url);
  await fleet.start(["dag-processor"]);
  await waitUntil(async () => (await fleet.query("select from dag where dag_id like 'airflow_native%'")).length === 2, {
    what: "the DAGs are read",
    timeoutMs: 60_000,
  });
  await fleet.query("update dag set is_paused = true where dag_id not like 'airflow_native%'");
  await Promise.all([fleet.start(["scheduler"]), fleet.start(["worker"]), fleet.start(["triggerer"])]);
}, 180_000);

afterAll(async () => {
  await fleet.close();
});

const SUCCESS = {
  "count.harbour": "success",
  "count.airport": "success",
  totals: "success",
  has_stock: "success",
  ship: "success",
  reorder: "skipped",
  pick_route: "success",
  by_road: "success",
  by_rail: "skipped",
  tidy: "success",
  report: "success",
};

const value = async (runId: string, taskId: string): Promise<unknown> =>
  (
    await fleet.query<{ value: unknown }>(
      "select value from xcom where run_id = $1 and task_id = $2 and key = 'return_value'",
      [runId, taskId],
    )
  )[0]?.value;

it("runs unchanged, and another DAG with it", { timeout: 90_000 }, async () => {
  await fleet.command(["dags", "trigger", "airflow_native", "-r", "plain"]);
  expect(await fleet.ended("airflow_native", "plain")).toEqual({ state: "success", tasks: SUCCESS });
  expect(await value("plain", "ship")).toBe("shipped from harbour and airport");
  const [report] = await fleet.query<{ run_id: string; state: string }>(
    "select run_id, state from dag_run where dag_id = 'airflow_native_report'",
  );
  expect(report?.state).toBe("success");
  expect(await value(report?.run_id ?? "", "write")).toBe("4 crates, asked for by plain");
});

it("takes the other arms when its variables say so", { timeout: 90_000 }, async () => {
  await fleet.command(["variables", "set", "route", "rail"]);
  await fleet.command(["variables", "set", "harbour_crates", "0"]);
  await fleet.command(["dags", "trigger", "airflow_native", "-r", "other"]);
  expect(await fleet.ended("airflow_native", "other")).toEqual({
    state: "success",
    tasks: { ...SUCCESS, ship: "skipped", reorder: "success", by_road: "skipped", by_rail: "success" },
  });
});
