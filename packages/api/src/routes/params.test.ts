// Params of a DAG, asked for over HTTP in each way in which a run comes to be.
import { beforeEach, describe, expect, test } from "vitest";
import { seedDag } from "../fixtures/seed.ts";
import { testApi } from "../fixtures/test-api.ts";

const { db, database, call } = await testApi();

beforeEach(async () => {
  await database.reset();
  await seedDag(db, "etl");
  const specs = {
    day: { schema: { type: "string", format: "date" }, required: true },
    rows: { schema: { type: "integer", minimum: 1 } },
    mode: { schema: { enum: ["full", "delta"] } },
  };
  await db.read(
    `update serialized_dag set data = data || jsonb_build_object('params', $1::jsonb, 'paramSpecs', $2::jsonb)`,
    [JSON.stringify({ rows: 10, mode: "full" }), JSON.stringify(specs)],
  );
  await db.read(`insert into asset (name, uri) values ('a', 'a')`);
  await db.read(`insert into task_outlet_asset_reference (asset_id, dag_id, task_id) values (1, 'etl', 'load')`);
});

const dates = { from_date: "2026-01-01T00:00:00Z", to_date: "2026-01-04T00:00:00Z" };
const WAYS = [
  ["a trigger", "/api/v2/dags/etl/dagRuns", (conf: object) => ({ conf, logical_date: null })],
  ["a backfill", "/api/v2/backfills", (conf: object) => ({ dag_id: "etl", dag_run_conf: conf, ...dates })],
  [
    "a backfill's dry run",
    "/api/v2/backfills/dry_run",
    (conf: object) => ({ dag_id: "etl", dag_run_conf: conf, ...dates }),
  ],
  ["a materialization", "/api/v2/assets/1/materialize", (conf: object) => ({ conf })],
] as const;

describe.each(WAYS)("%s", (_way, url, body) => {
  const ask = async (conf: object) => await call("POST", url, { payload: body(conf) });

  test("is refused with every violation, and makes nothing", async () => {
    const refused = await ask({ day: "someday", rows: 0, mode: "half" });
    expect(refused.statusCode).toBe(400);
    const { detail } = refused.json<{ detail: string }>();
    for (const part of [/day: must match format "date"/, /rows: must be >= 1/, /mode: must be one of/]) {
      expect(detail).toMatch(part);
    }
    expect((await ask({})).json<{ detail: string }>().detail).toContain("day: is required");
    expect(await db.read("select from dag_run")).toEqual([]);
    expect(await db.read("select from backfill")).toEqual([]);
  });

  test("is accepted with what has no default, and with names that are no params", async () => {
    expect((await ask({ day: "2026-01-31", other: [1] })).statusCode).toBe(200);
  });
});
