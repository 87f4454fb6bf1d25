import pg from "pg";
import { describe, expect, test } from "vitest";
import { createTestDatabase, testDatabase } from "../index.ts";
import { withClient } from "./admin.ts";

const database = await testDatabase();

const insertPool = (url: string, pool: string): Promise<unknown> =>
  withClient(url, (client) => client.query("insert into slot_pool (pool, slots) values ($1, 3)", [pool]));
const pools = (url: string): Promise<string[]> =>
  withClient(url, async (client) => {
    const { rows } = await client.query<{ pool: string }>("select pool from slot_pool order by pool");
    return rows.map((row) => row.pool);
  });

describe("a test database", () => {
  test("is migrated and its own: what one writes, another does not see", async () => {
    await using other = await createTestDatabase();
    await insertPool(database.url, "here");
    expect(await pools(database.url)).toContain("here");
    expect(await pools(other.url)).toEqual(["default_pool"]);
  });

  test("is as after its migration once it is reset, seeded rows included", async () => {
    await insertPool(database.url, "gone");
    await withClient(database.url, (client) => client.query("delete from slot_pool where pool = 'default_pool'"));
    await database.reset();
    expect(await pools(database.url)).toEqual(["default_pool"]);
  });

  test("says who left a connection open when it is dropped, and is dropped all the same", async () => {
    const left = await createTestDatabase();
    const client = new pg.Client({ connectionString: left.url, application_name: "forgetful" });
    client.on("error", () => undefined);
    await client.connect();
    await expect(left.drop()).rejects.toThrow(/left connections.*\nforgetful/);
    await expect(withClient(left.url, () => Promise.resolve())).rejects.toThrow(/does not exist/);
  });
});
