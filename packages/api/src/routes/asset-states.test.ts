// What handlers keep about an asset, read and changed over HTTP.
import { getAssetState, setAssetState } from "@millrace/shared/db";
import { beforeEach, expect, test } from "vitest";
import { testApi } from "../fixtures/test-api.ts";

const { call, get, db, database } = await testApi({ config: { "core.max_xcom_bytes": 1024 } });

beforeEach(async () => {
  await database.reset();
  await db.read("insert into asset (name, uri) values ('orders', 'orders'), ('rates', 'rates')");
  // Known from the first request on, as what is new is within seconds.
  await db.read("insert into variable (key, val) values ('api_token', 'c4n4ry-of-a-state')");
  await db.read("insert into asset_active (name, uri) select name, uri from asset");
});

const base = "/api/v2/assets/1/states";
const put = async (key: string, payload: object) => await call("PUT", `${base}/${key}`, { payload });
const audited = () => db.read<{ event: string; extra: string }>("select event, owner, extra from log order by id");

test("what a handler kept is listed and read, what is put the handler reads, what is deleted is gone", async () => {
  await setAssetState(db, { name: "orders" }, "read_to", { page: 7 });
  await setAssetState(db, { name: "rates" }, "read_to", "other");
  expect((await get(base)).json()).toEqual({
    asset_states: [{ key: "read_to", value: { page: 7 }, updated_at: expect.stringMatching(/^2.*Z$/) as string }],
    total_entries: 1,
  });
  expect((await put("read_to", { value: [1, null] })).json()).toMatchObject({ key: "read_to", value: [1, null] });
  expect((await put("also%20this", { value: null })).statusCode).toBe(200);
  expect(await getAssetState(db, { name: "orders" }, "read_to")).toEqual([1, null]);
  expect(await getAssetState(db, { name: "orders" }, "also this")).toBeNull();
  expect((await call("DELETE", `${base}/read_to`)).statusCode).toBe(204);
  expect(await getAssetState(db, { name: "orders" }, "read_to")).toBeUndefined();
  expect(await getAssetState(db, { name: "rates" }, "read_to")).toBe("other");
  expect(await audited()).toEqual([
    { event: "put_asset_state", owner: "admin", extra: '{"asset_id":1,"key":"read_to"}' },
    { event: "put_asset_state", owner: "admin", extra: '{"asset_id":1,"key":"also this"}' },
    { event: "delete_asset_state", owner: "admin", extra: '{"asset_id":1,"key":"read_to"}' },
  ]);
});

test("what is not there is said, and changes nothing", async () => {
  expect((await get("/api/v2/assets/99/states")).statusCode).toBe(404);
  expect((await get(`${base}/nope`)).json()).toMatchObject({ detail: expect.stringContaining("under nope") as string });
  expect((await call("DELETE", `${base}/nope`)).statusCode).toBe(404);
  expect((await call("PUT", "/api/v2/assets/99/states/a", { payload: { value: 1 } })).statusCode).toBe(404);
  expect(await audited()).toEqual([]);
});

test.each([
  ["without a value", {}, "value"],
  ["with more than a value", { value: 1, key: "x" }, "additional"],
  ["that is larger than an XCom", { value: "x".repeat(1_023) }, "core.max_xcom_bytes allows 1024"],
  ["that Postgres cannot store", { value: "a\u0000b" }, "nothing that Postgres can store"],
])("one %s is refused", async (_what, payload, why) => {
  const answer = await put("a", payload);
  expect([400, 422]).toContain(answer.statusCode);
  expect(answer.body).toContain(why);
  expect((await get(base)).json()).toMatchObject({ total_entries: 0 });
});

test("secrets in it are masked, by their value and by the name they stand under", async () => {
  await setAssetState(db, { name: "orders" }, "cursor", { at: "x c4n4ry-of-a-state", password: "unknown" });
  await setAssetState(db, { name: "orders" }, "token", "unknown");
  const answers = [await get(base), await get(`${base}/cursor`), await get(`${base}/token`)];
  for (const { body } of answers) expect(body).not.toMatch(/c4n4ry|unknown/);
  expect(answers[1]?.json()).toMatchObject({ value: { at: "x ***", password: "***" } });
});
