import { cron, Dag } from "@millrace/sdk";
import { DagVersions, Database, type Queryable } from "@millrace/shared/db";
import { loadConfig } from "@millrace/shared/config";
import { createLogger } from "@millrace/shared/observability";
import { testDatabase } from "@millrace/testkit";
import { afterAll, beforeEach, expect, it } from "vitest";
import { putDag } from "../fixtures/put-dag.ts";
import { createDueRuns } from "./create-due-runs.ts";

const database = await testDatabase();
const log = createLogger({ level: "silent", name: "test" });
const db = new Database({ url: database.url, applicationName: "test", maxConnections: 4, maxRetries: 3, log });
const config = loadConfig({ env: {}, cwd: "/" });
afterAll(() => db.close());
beforeEach(() => database.reset());

const create = async () =>
  await db.transaction(
    async (tx: Queryable) => await createDueRuns({ tx, versions: new DagVersions(db), config, log }),
  );

const intervals = async () =>
  (
    await db.read<{ at: string }>(
      "select to_char(logical_date at time zone 'utc', 'HH24:MI') as at from dag_run order by logical_date",
    )
  ).map((run) => run.at);

const specOf = (dagId: string, schedule: string) => {
  const dag = new Dag(dagId, { schedule, catchup: false });
  dag.task("a", () => 1)();
  return dag.spec();
};

it("gives every interval that was missed while no scheduler lived its run, without catchup too", async () => {
  await putDag(db, specOf("hourly", "0 * * * *"));
  await db.read(`update dag set next_dagrun = date_trunc('day', now()) - interval '19 hours',
    next_dagrun_data_interval_start = date_trunc('day', now()) - interval '19 hours',
    next_dagrun_data_interval_end = date_trunc('day', now()) - interval '18 hours',
    next_dagrun_create_after = date_trunc('day', now()) - interval '18 hours', max_active_runs = 5`);
  expect((await create()).created).toBe(5);
  // As many as max_active_runs has room for; the rest follow when those are done.
  expect((await create()).created).toBe(0);
  expect(await intervals()).toEqual(["05:00", "06:00", "07:00", "08:00", "09:00"]);
});

it.each([
  // There is no 02:30 on 30 March, the clocks go from 02:00 to 03:00; on 26 October there are two.
  ["is left out", "2025-03-28T01:30Z", ["03-28 01:30", "03-29 01:30", "03-30 01:30", "03-31 00:30"]],
  ["comes twice", "2025-10-24T00:30Z", ["10-24 00:30", "10-25 00:30", "10-26 00:30", "10-27 01:30"]],
])("gives each day one run when its hour %s while no scheduler lived", async (_what, first, expected) => {
  const schedule = cron("30 2 * * *", { timezone: "Europe/Berlin" });
  const dag = new Dag("nightly", { schedule, startDate: new Date(first), catchup: true });
  dag.task("a", () => 1)();
  await putDag(db, dag.spec());
  await db.read(
    `update dag set next_dagrun = $1::timestamptz, next_dagrun_data_interval_start = $1::timestamptz,
      next_dagrun_data_interval_end = $1::timestamptz + interval '1 day',
      next_dagrun_create_after = $1::timestamptz + interval '1 day', max_active_runs = 4`,
    [first],
  );
  await create();
  expect(
    (
      await db.read<{ at: string }>(
        "select to_char(logical_date at time zone 'utc', 'MM-DD HH24:MI') as at from dag_run order by logical_date",
      )
    ).map((run) => run.at),
  ).toEqual(expected);
});

it("gives an interval one run, whoever looks at the same time", async () => {
  await putDag(db, specOf("hourly", "0 * * * *"));
  await db.read(`update dag set next_dagrun = '2026-01-01T00:00Z', next_dagrun_data_interval_start = '2026-01-01T00:00Z',
    next_dagrun_data_interval_end = '2026-01-01T01:00Z', next_dagrun_create_after = '2026-01-01T01:00Z', max_active_runs = 3`);
  await Promise.all([create(), create(), create()]);
  expect(await intervals()).toEqual(["00:00", "01:00", "02:00"]);
});

it("stops only the DAG whose schedule fails", async () => {
  await putDag(db, specOf("broken", "0 0 31 2 *"));
  await putDag(db, specOf("hourly", "0 * * * *"));
  await db.read(`update dag set next_dagrun = now() - interval '2 hours', next_dagrun_data_interval_start = now() - interval '2 hours',
    next_dagrun_data_interval_end = now() - interval '1 hour', next_dagrun_create_after = now() - interval '1 hour', max_active_runs = 1`);
  await create();
  const dags = await db.read<{ dag_id: string; next: Date | null }>(
    "select dag_id, next_dagrun_create_after as next from dag order by 1",
  );
  expect(dags.map((dag) => [dag.dag_id, dag.next !== null])).toEqual([
    ["broken", false],
    ["hourly", true],
  ]);
});
