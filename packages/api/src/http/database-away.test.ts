import { openProxyTo, waitUntil, type TcpProxy } from "@millrace/testkit";
import { afterAll, expect, test } from "vitest";
import { testApi } from "../fixtures/test-api.ts";

let link: TcpProxy | undefined;
const { get, call } = await testApi({
  through: async (url) => {
    const proxy = await openProxyTo(url);
    link = proxy;
    return proxy.url;
  },
});
afterAll(() => link?.close());

test("while the database is away the API says so with 503, and goes on by itself once it is back", async () => {
  expect((await get("/api/v2/dags")).statusCode).toBe(200);
  link?.cut();
  const read = await get("/api/v2/dags");
  expect(read.statusCode).toBe(503);
  expect(read.headers["retry-after"]).toBe("5");
  expect(read.json<{ detail: string }>().detail).toMatch(
    /^The database cannot answer this at the moment\. Try again in a moment\./,
  );
  expect(read.body).not.toMatch(/127\.0\.0\.1|ECONN|at .*\.ts/);
  const write = await call("POST", "/api/v2/dags/x/dagRuns", { payload: { logical_date: null } });
  expect(write.statusCode).toBe(503);
  expect(write.body).toMatch(/Look whether this was done/);
  const health = await get("/api/v2/monitor/health");
  expect([health.statusCode, health.json<{ metadatabase: unknown }>().metadatabase]).toEqual([
    200,
    { status: "unhealthy" },
  ]);
  link?.heal();
  await waitUntil(async () => (await get("/api/v2/dags")).statusCode === 200, { what: "it answers again" });
});
