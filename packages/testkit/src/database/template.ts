// One migrated database per run; every test database is a copy of it, made by Postgres in milliseconds.
import { randomBytes } from "node:crypto";
import type pg from "pg";
import { databaseUrl, withClient } from "./admin.ts";
import { RESET_FUNCTION } from "./reset-function.ts";

const PREFIX = "millrace_test_";
const ABANDONED_AFTER_MS = 6 * 3_600_000;

export async function createTemplate(serverUrl: string, migrate: (url: string) => Promise<unknown>): Promise<string> {
  const template = `${PREFIX}${Date.now()}_${randomBytes(3).toString("hex")}`;
  await withClient(serverUrl, async (server) => {
    await dropAbandoned(server);
    await server.query(`create database ${template}`);
  });
  const url = databaseUrl(serverUrl, template);
  await migrate(url);
  await withClient(url, (client) => client.query(RESET_FUNCTION));
  return template;
}

/** Drops the template and every copy that is left. */
export async function dropTemplate(serverUrl: string, template: string): Promise<void> {
  await withClient(serverUrl, async (server) => drop(server, await databasesLike(server, template)));
}

// On a server of the environment, runs that were killed leave their databases; the name says from when.
async function dropAbandoned(server: pg.Client): Promise<void> {
  const names = await databasesLike(server, PREFIX);
  await drop(
    server,
    names.filter((name) => Number(name.slice(PREFIX.length).split("_")[0]) < Date.now() - ABANDONED_AFTER_MS),
  );
}

async function databasesLike(server: pg.Client, prefix: string): Promise<string[]> {
  const { rows } = await server.query<{ datname: string }>(
    "select datname from pg_database where starts_with(datname, $1)",
    [prefix],
  );
  return rows.map((row) => row.datname);
}

async function drop(server: pg.Client, names: readonly string[]): Promise<void> {
  for (const name of names) await server.query(`drop database if exists ${name} with (force)`);
}
