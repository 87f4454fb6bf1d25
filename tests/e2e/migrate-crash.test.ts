// A migration that dies halfway, as a process: nothing of it stays, and the next one makes the whole schema.
import { startProcess, testDatabase, testRedisUrl, waitUntil } from "@millrace/testkit";
import { afterAll, expect, test } from "vitest";
import pg from "pg";

const database = await testDatabase();
const redisUrl = await testRedisUrl();
const admin = new pg.Client(database.url);
await admin.connect();
const name = `halfway_${process.pid}`;
const url = Object.assign(new URL(database.url), { pathname: `/${name}` }).toString();
afterAll(async () => {
  await admin.query(`drop database if exists ${name} with (force)`);
  await admin.end();
});

const migrate = () =>
  startProcess({
    args: ["db", "migrate"],
    env: { MILLRACE__DATABASE__URL: url, MILLRACE__BROKER__URL: redisUrl },
  });
const tablesOf = async (client: pg.Client): Promise<string[]> =>
  (
    await client.query<{ name: string }>(
      "select relname as name from pg_class where relnamespace = 'public'::regnamespace and relkind = 'r' order by 1",
    )
  ).rows.map((row) => row.name);

// Only a superuser may make it wait where it is to die.
const [me] = (await admin.query<{ rolsuper: boolean }>("select rolsuper from pg_roles where rolname = current_user"))
  .rows;

test.skipIf(me?.rolsuper !== true)(
  "a migration whose process is killed between two of its steps leaves nothing, and the next makes all of it",
  { timeout: 120_000 },
  async () => {
    await admin.query(`create database ${name}`);
    const client = new pg.Client(url);
    await client.connect();
    try {
      // It comes as far as the log of transitions, and stays there.
      await client.query(`
      create function wait_there() returns event_trigger language plpgsql as $$
      begin
        if exists (select from pg_class where relname = 'task_instance_transition') then perform pg_sleep(600); end if;
      end $$;
      create event trigger halfway on ddl_command_end execute function wait_there();`);
      const dying = migrate();
      await waitUntil(
        async () =>
          (
            await client.query(
              "select from pg_stat_activity where application_name = 'millrace migrate' and wait_event = 'PgSleep'",
            )
          ).rowCount === 1,
        { what: "it is halfway", timeoutMs: 60_000 },
      );
      dying.kill("SIGKILL");
      await dying.exited;
      await waitUntil(
        async () => {
          await client.query(
            "select pg_terminate_backend(pid) from pg_stat_activity where application_name = 'millrace migrate'",
          );
          return (
            (await client.query("select from pg_stat_activity where application_name = 'millrace migrate'"))
              .rowCount === 0
          );
        },
        { what: "the server has given its session up", timeoutMs: 60_000 },
      );
      expect(await tablesOf(client)).toEqual([]);
      await client.query("drop event trigger halfway; drop function wait_there()");
      expect((await migrate().exited).code).toBe(0);
      const whole = new pg.Client(database.url);
      await whole.connect();
      expect(await tablesOf(client)).toEqual(await tablesOf(whole));
      await whole.end();
    } finally {
      await client.end();
    }
  },
);
