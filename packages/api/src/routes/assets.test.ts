// Assets over HTTP: what is declared, events from outside, what waits for DAGs, and runs that update one.
import { writeAssetEvents } from "@millrace/shared/db";
import { beforeEach, describe, expect, test } from "vitest";
import { seedDag } from "../fixtures/seed.ts";
import { testApi } from "../fixtures/test-api.ts";

const { call, get, db, database, wakes } = await testApi();

/** `producer` updates `orders`; `report` waits for `orders` and `rates`. */
beforeEach(async () => {
  await database.reset();
  wakes.length = 0;
  for (const dagId of ["producer", "report"]) await seedDag(db, dagId);
  await db.read(`insert into asset (name, uri, "group", extra) values
    ('orders', 's3://lake/orders', 'lake', '{"owner":"ada"}'), ('rates', 'rates', 'asset', '{}'), ('old', 'old', 'asset', '{}')`);
  await db.read(`insert into asset_active (name, uri) select name, uri from asset where name <> 'old'`);
  await db.read(`insert into dag_schedule_asset_reference (asset_id, dag_id) values (1, 'report'), (2, 'report')`);
  await db.read(`insert into task_outlet_asset_reference (asset_id, dag_id, task_id) values (1, 'producer', 'load')`);
  const assets = { all: [{ asset: { name: "orders", uri: "s3://lake/orders" } }, { ref: { name: "rates" } }] };
  await db.read(
    `update serialized_dag set data = jsonb_set(data::jsonb, '{schedule}', $1::jsonb) where dag_id = 'report'`,
    [JSON.stringify({ kind: "assets", assets })],
  );
});

const post = async (payload: object) => await call("POST", "/api/v2/assets/events", { payload });
const queued = () => db.read<{ target_dag_id: string }>(`select target_dag_id from asset_dag_run_queue`);

describe("assets", () => {
  test("are listed with who updates them and whom they start, the active ones unless all are asked for", async () => {
    const { assets, total_entries: total } = (await get("/api/v2/assets")).json<{
      assets: object[];
      total_entries: number;
    }>();
    expect(total).toBe(2);
    expect(assets[0]).toMatchObject({
      id: 1,
      name: "orders",
      uri: "s3://lake/orders",
      group: "lake",
      extra: { owner: "ada" },
      scheduled_dags: [{ dag_id: "report" }],
      producing_tasks: [{ dag_id: "producer", task_id: "load" }],
      consuming_tasks: [],
      aliases: [],
      last_asset_event: null,
    });
    const names = async (query: string) =>
      (await get(`/api/v2/assets?${query}`)).json<{ assets: { name: string }[] }>().assets.map(({ name }) => name);
    expect(await names("only_active=false&order_by=-name")).toEqual(["rates", "orders", "old"]);
    expect(await names("name_pattern=rat")).toEqual(["rates"]);
    expect(await names("uri_pattern=lake&dag_ids=producer")).toEqual(["orders"]);
    expect(await names("limit=1&offset=1")).toEqual(["rates"]);
    expect((await get("/api/v2/assets?order_by=extra")).statusCode).toBe(400);
    expect((await get("/api/v2/assets/1")).json()).toEqual(assets[0]);
    expect((await get("/api/v2/assets/99")).statusCode).toBe(404);
  });

  test("have aliases, which are listed on their own", async () => {
    await db.read(`insert into asset_alias (name, "group") values ('files', 'lake')`);
    await db.read(`insert into asset_alias_asset (alias_id, asset_id) values (1, 2)`);
    const alias = { id: 1, name: "files", group: "lake" };
    expect((await get("/api/v2/assets/aliases?name_pattern=fil")).json()).toEqual({
      asset_aliases: [alias],
      total_entries: 1,
    });
    expect((await get("/api/v2/assets/aliases/1")).json()).toEqual(alias);
    expect((await get("/api/v2/assets/aliases/2")).statusCode).toBe(404);
    expect((await get("/api/v2/assets/2")).json()).toMatchObject({ aliases: [alias] });
  });
});

describe("an event from outside", () => {
  test("is written with its extra and its author, queued for those who wait, and wakes the schedulers", async () => {
    const answer = await post({ asset_id: 1, extra: { rows: 3 } });
    expect(answer.statusCode).toBe(200);
    expect(answer.json()).toMatchObject({
      id: 1,
      asset_id: 1,
      name: "orders",
      uri: "s3://lake/orders",
      extra: { rows: 3, from_rest_api: true },
      source_dag_id: null,
      created_dagruns: [],
    });
    expect(wakes).toEqual([{ dagRunId: null, taskIds: null }]);
    expect(await queued()).toEqual([{ target_dag_id: "report" }]);
    expect(await db.read(`select event, owner from log where event = 'create_asset_event'`)).toEqual([
      { event: "create_asset_event", owner: "admin" },
    ]);
    expect((await get("/api/v2/assets/1")).json()).toMatchObject({ last_asset_event: { id: 1 } });
  });

  test.each([
    ["an asset that is not there", { asset_id: 99 }, 404],
    ["an empty partition key", { asset_id: 1, partition_key: " " }, 400],
    ["a key that is too long", { asset_id: 1, partition_key: "k".repeat(251) }, 422],
    ["an extra that is no object", { asset_id: 1, extra: [1] }, 422],
    ["an extra that Postgres cannot keep", { asset_id: 1, extra: { bad: "\u0000" } }, 400],
    ["a word too many", { asset_id: 1, extras: {} }, 422],
  ])("with %s is refused, and nothing is written", async (_what, payload, status) => {
    expect((await post(payload)).statusCode).toBe(status);
    expect(await db.read(`select from asset_event`)).toEqual([]);
    expect(await queued()).toEqual([]);
  });

  test("is listed with the others, by asset, by source and by time", async () => {
    await db.transaction((tx) =>
      writeAssetEvents(tx, [
        { assetId: 1, dagId: "producer", taskId: "load", runId: "r1", mapIndex: -1 },
        { assetId: 2, partitionKey: "2026-05" },
      ]),
    );
    const ids = async (query: string) =>
      (await get(`/api/v2/assets/events?${query}`))
        .json<{ asset_events: { id: number }[] }>()
        .asset_events.map(({ id }) => id);
    expect(await ids("")).toEqual([1, 2]);
    expect(await ids("order_by=-id")).toEqual([2, 1]);
    expect(await ids("asset_id=2")).toEqual([2]);
    expect(await ids("source_dag_id=producer&source_task_id=load&source_run_id=r1")).toEqual([1]);
    expect(await ids("source_map_index=3")).toEqual([]);
    expect(await ids("timestamp_lte=2020-01-01T00:00:00Z")).toEqual([]);
    expect(await ids("name_pattern=rates")).toEqual([2]);
  });
});

describe("what waits for DAGs", () => {
  test("is shown for an asset, a DAG, and both, and dropped the same ways", async () => {
    const ways = [
      "/api/v2/assets/1/queuedEvents",
      "/api/v2/dags/report/assets/queuedEvents",
      "/api/v2/dags/report/assets/1/queuedEvents",
    ];
    for (const way of ways) {
      expect((await get(way)).statusCode, way).toBe(404);
      expect((await call("DELETE", way)).statusCode, way).toBe(404);
      await post({ asset_id: 1 });
      await post({ asset_id: 1 });
      const body = (await get(way)).json<{ queued_events?: object[] }>();
      const event = { dag_id: "report", asset_id: 1 };
      if (way.endsWith("assets/1/queuedEvents") && way.includes("dags")) expect(body).toMatchObject(event);
      else expect(body).toMatchObject({ queued_events: [event], total_entries: 1 });
      expect((await get(`${way}?before=2020-01-01T00:00:00Z`)).statusCode).toBe(404);
      expect((await call("DELETE", `${way}?before=2020-01-01T00:00:00Z`)).statusCode).toBe(404);
      expect((await call("DELETE", way)).statusCode, way).toBe(204);
      expect(await queued()).toEqual([]);
    }
    expect((await get("/api/v2/assets/99/queuedEvents")).json()).toMatchObject({ detail: expect.stringMatching(/99/) });
    expect((await get("/api/v2/dags/nope/assets/queuedEvents")).statusCode).toBe(404);
    expect(await db.read(`select extra from log where event = 'delete_queued_asset_events' order by id`)).toHaveLength(
      3,
    );
  });
});

describe("materialize", () => {
  const materialize = async (id: number, payload: object = {}) =>
    await call("POST", `/api/v2/assets/${id}/materialize`, { payload });

  test("starts the one DAG that updates the asset", async () => {
    const answer = await materialize(1, { dag_run_id: "now", conf: { n: 1 }, partition_key: "2026-05", note: "again" });
    expect(answer.json()).toMatchObject({
      dag_id: "producer",
      dag_run_id: "now",
      run_type: "asset_materialization",
      conf: { n: 1 },
      partition_key: "2026-05",
      note: "again",
    });
    expect(wakes).toHaveLength(1);
    expect((await get("/api/v2/dags/producer/dagRuns/now/upstreamAssetEvents")).json()).toEqual({
      asset_events: [],
      total_entries: 0,
    });
  });

  test("is refused for what nobody updates, or two do", async () => {
    expect((await materialize(2)).statusCode).toBe(404);
    await db.read(`insert into task_outlet_asset_reference (asset_id, dag_id, task_id) values (1, 'report', 'load')`);
    expect((await materialize(1)).statusCode).toBe(409);
  });
});

describe("why a DAG that waits for assets does not run", () => {
  const texts = async () =>
    (await get("/api/v2/dags/report/explain"))
      .json<{ conditions: { kind: string; text: string }[] }>()
      .conditions.map(({ text }) => text);

  test("is which asset is missing, who updates it, and what has come", async () => {
    expect(await texts()).toEqual([
      "no scheduler lives",
      "it waits for orders and rates",
      "orders is missing: it never had an event; it is updated by producer.load",
      "rates is missing: it never had an event; no task updates it, so that its events come through the API",
    ]);
    await post({ asset_id: 2 });
    await db.read(`update dag set is_paused = true where dag_id = 'producer'`);
    expect((await texts()).slice(2)).toEqual([
      expect.stringMatching(/^rates has come: an event waits since \d{4}-/),
      "orders is missing: it never had an event; it is updated by producer.load (paused)",
    ]);
    await post({ asset_id: 1 });
    expect(await texts()).toContain("all assets that it waits for have come");
    expect((await get("/api/v2/dags/nope/explain")).statusCode).toBe(404);
  });
});
