import { createTestDatabase } from "@millrace/testkit";
import pg from "pg";
import { expect, onTestFinished, test } from "vitest";
import { migrate, requireSchema } from "./index.ts";
import { MIGRATIONS } from "./migrations/index.ts";

const HEAD = MIGRATIONS.at(-1)?.name ?? "";

async function client(url: string): Promise<pg.Client> {
  const opened = new pg.Client({ connectionString: url });
  await opened.connect();
  return opened;
}

/** A database with nothing in it, beside the migrated ones. */
async function emptyDatabase(): Promise<string> {
  const other = await createTestDatabase();
  const admin = await client(other.url);
  const name = `${other.name}_empty`;
  await admin.query(`create database ${name}`);
  onTestFinished(async () => {
    await admin.query(`drop database ${name} with (force)`);
    await admin.end();
    await other.drop();
  });
  const url = new URL(other.url);
  url.pathname = `/${name}`;
  return url.href;
}

async function migrated() {
  const database = await createTestDatabase();
  const db = await client(database.url);
  onTestFinished(async () => {
    await db.end();
    await database.drop();
  });
  return { url: database.url, db };
}

test("an empty database is refused until it is migrated, and then taken", async () => {
  const url = await emptyDatabase();
  await expect(requireSchema(url)).rejects.toMatchObject({
    code: "DATABASE_NOT_MIGRATED",
    values: { found: "(none)", needed: HEAD },
  });
  expect((await migrate(url, { defaultPoolSlots: 7 })).applied).toEqual(MIGRATIONS.map(({ name }) => name));
  await requireSchema(url);
  expect((await migrate(url, { defaultPoolSlots: 9 })).applied).toEqual([]);
  const db = await client(url);
  expect((await db.query("select pool, slots from slot_pool")).rows).toEqual([{ pool: "default_pool", slots: 7 }]);
  await db.end();
});

test("many that migrate at once apply each migration once", async () => {
  const url = await emptyDatabase();
  const results = await Promise.all([migrate(url), migrate(url), migrate(url), migrate(url)]);
  expect(results.flatMap(({ applied }) => applied)).toEqual(MIGRATIONS.map(({ name }) => name));
  await requireSchema(url);
});

test("a database that lacks the last migration is refused with what it has and needs", async () => {
  const { url, db } = await migrated();
  await db.query("delete from millrace_migration where name = $1", [HEAD]);
  await expect(requireSchema(url)).rejects.toMatchObject({
    code: "DATABASE_NOT_MIGRATED",
    values: { found: MIGRATIONS.at(-2)?.name, needed: HEAD },
  });
});

test("a database of a newer program is neither used nor migrated", async () => {
  const { url, db } = await migrated();
  await db.query("insert into millrace_migration (name, batch, migration_time) values ('9999-later', 2, now())");
  for (const refuses of [requireSchema, migrate]) {
    await expect(refuses(url)).rejects.toMatchObject({ code: "DATABASE_TOO_NEW", values: { found: "9999-later" } });
  }
});

test("migrating makes the guard anew, whatever became of it", async () => {
  const { url, db } = await migrated();
  await db.query("drop trigger guard on task_instance; drop trigger guard on dag_run");
  await migrate(url);
  const { rows } = await db.query(
    "select tgrelid::regclass::text as table from pg_trigger where tgname = 'guard' order by 1",
  );
  expect(rows).toEqual([{ table: "dag_run" }, { table: "task_instance" }]);
});

test.each([migrate, requireSchema])("%o says who cannot be reached, without the password", async (reach) => {
  const error: unknown = await reach("postgres://ada:hush@127.0.0.1:1/x").catch((caught: unknown) => caught);
  expect(error).toMatchObject({ code: "DATABASE_UNREACHABLE" });
  expect(String(error)).toContain("ada:***@127.0.0.1:1");
  expect(String(error)).not.toContain("hush");
});

test.each([migrate, requireSchema])(
  "%o takes a server without a free connection for one that is away",
  async (reach) => {
    const { url, db } = await migrated();
    const role = `busy_${String(process.pid)}`;
    await db.query(`create role ${role} login password 'busy' connection limit 0`);
    const busy = new URL(url);
    [busy.username, busy.password] = [role, "busy"];
    await expect(reach(busy.href)).rejects.toMatchObject({ code: "DATABASE_UNREACHABLE" });
    await db.query(`drop role ${role}`);
  },
);
