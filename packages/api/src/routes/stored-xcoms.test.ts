// XComs whose values are in an object store, as the API shows them.
import { XComs } from "@millrace/shared/xcoms";
import { loadConfig } from "@millrace/shared/config";
import { startObjectStore } from "@millrace/testkit";
import { afterAll, beforeEach, expect, test } from "vitest";
import { seedDag, seedRun } from "../fixtures/seed.ts";
import { testApi } from "../fixtures/test-api.ts";

const store = await startObjectStore();
afterAll(() => store.close());
const config = {
  "common_io.xcom_objectstorage_path": `s3://${store.bucket}`,
  "common_io.xcom_objectstorage_endpoint": store.url,
  "common_io.xcom_objectstorage_region": store.region,
  "common_io.xcom_objectstorage_access_key_id": store.accessKeyId,
  "common_io.xcom_objectstorage_secret_access_key": store.secretAccessKey,
  "common_io.xcom_objectstorage_threshold": 10,
};
const { db, database, get } = await testApi({ config });
const URL = "/api/v2/dags/etl/dagRuns/one/taskInstances/extract/xcomEntries";

beforeEach(async () => {
  await database.reset();
  await seedDag(db, "etl");
  await seedRun(db, "etl", "one");
  const [ti] = await db.read<{ id: string }>("select id from task_instance where task_id = 'extract'");
  const owner = { id: ti?.id ?? "", dagId: "etl", runId: "one", taskId: "extract", mapIndex: -1 };
  const value = await new XComs(db, loadConfig({ env: {}, overrides: config })).keep(owner, "return_value", {
    rows: "x".repeat(20),
    password: "hush hush",
  });
  await db.read("update xcom set value = $1", [value]);
});

test("their values are given as if they were in the database, with secrets masked", async () => {
  const value = { rows: "x".repeat(20), password: "***" };
  expect((await get(`${URL}/return_value`)).json()).toMatchObject({ value });
  expect((await get(`${URL}/return_value?stringify=true`)).json()).toMatchObject({ value: JSON.stringify(value) });
  expect((await get(URL)).json()).toMatchObject({ xcom_entries: [{ key: "return_value" }] });
});

test("a value that the store has lost, or does not give, is told in words", async () => {
  store.isDenied = true;
  const denied = await get(`${URL}/return_value`);
  expect(denied.statusCode).toBe(503);
  expect(denied.json()).toMatchObject({ detail: expect.stringContaining("AccessDenied") as string });
  store.isDenied = false;
  store.objects.clear();
  const lost = await get(`${URL}/return_value`);
  expect(lost.statusCode).toBe(410);
  expect(lost.json()).toMatchObject({
    detail: expect.stringContaining("has nothing under etl/one/extract/") as string,
  });
});
