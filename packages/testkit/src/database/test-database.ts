// A database of its own for a test file, or for one test.
import pg from "pg";
import { runContext } from "../run-context.ts";
import { waitUntil } from "../wait-until.ts";
import { databaseUrl, withClient } from "./admin.ts";

export interface TestDatabase extends AsyncDisposable {
  readonly url: string;
  readonly name: string;
  /** Back to the state right after migration, in about a millisecond. */
  reset(): Promise<void>;
  /** Fails when the code under test left a connection open. */
  drop(): Promise<void>;
}

let made = 0;

export async function createTestDatabase(): Promise<TestDatabase> {
  const { postgresUrl, template } = runContext();
  const name = `${template}_${process.pid}_${++made}`;
  await withClient(postgresUrl, (server) => server.query(`create database ${name} template ${template}`));
  const url = databaseUrl(postgresUrl, name);
  let session: pg.Client | undefined;

  const reset = async (): Promise<void> => {
    if (session === undefined) {
      session = new pg.Client({ connectionString: url, application_name: "testkit" });
      session.on("error", () => undefined); // A test may stop the server; the next query says so.
      await session.connect();
    }
    await session.query("select testkit.reset()");
  };
  const drop = async (): Promise<void> => {
    await session?.end();
    await withClient(postgresUrl, async (server) => {
      // The server learns of a closed connection a moment after the client has closed it.
      const left = await waitUntil(async () => (await connections(server, name)).length === 0, {
        what: `no connection to ${name} left`,
        timeoutMs: 2_000,
      }).then(
        () => [],
        () => connections(server, name),
      );
      await server.query(`drop database if exists ${name} with (force)`);
      if (left.length > 0) throw new Error(`The test left connections to its database open:\n${left.join("\n")}`);
    });
  };
  return { url, name, reset, drop, [Symbol.asyncDispose]: drop };
}

async function connections(server: pg.Client, database: string): Promise<string[]> {
  const { rows } = await server.query<{ line: string }>(
    `select format('%s: %s, last query: %s', application_name, state, left(query, 120)) as line
     from pg_stat_activity where datname = $1 and backend_type = 'client backend'`,
    [database],
  );
  return rows.map((row) => row.line);
}
