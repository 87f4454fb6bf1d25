// Statements of tasks on databases of the user's, for the worker: the process that runs a task has no driver and needs no
// password. One connection per call, so that what a task leaves behind (a transaction, a setting) dies with it.
import pg from "pg";
import type { ConnectionValue, SqlRequest, SqlResult } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import { messageOf } from "../errors/index.ts";
import { foreignClientConfig } from "./foreign-client.ts";

const CONNECT_MS = 10_000;
const MAX_ROWS = 10_000;
/** How soon a statement ends whose worker is gone. */
const CHECK = "2s";

export interface RunSqlOptions {
  /** The largest answer, in bytes of JSON. */
  readonly maxBytes: number;
  /** Ends what runs: the server is told to cancel it. */
  readonly signal?: AbortSignal | undefined;
}

/** Dates as ISO 8601, with a zone where they have one, numbers that a double cannot hold as texts, binary data as base64. */
export async function runSql(
  connection: ConnectionValue,
  request: SqlRequest,
  { maxBytes, signal }: RunSqlOptions,
): Promise<readonly SqlResult[]> {
  const { connectionId, connType } = connection;
  if (!/^postgres(ql)?$/.test(connType)) {
    throw new Error(`the connection "${connectionId}" is of the type ${connType}: sql runs on postgres`);
  }
  const timeoutMs = request.timeoutSeconds === undefined ? undefined : Math.ceil(request.timeoutSeconds * 1000);
  const client = new pg.Client({
    ...foreignClientConfig(connection),
    application_name: "millrace task",
    ...(timeoutMs === undefined ? {} : { statement_timeout: timeoutMs }),
  });
  client.on("error", () => undefined); // the statement that runs is told as well
  try {
    await client.connect();
  } catch (error) {
    throw new Error(`the database of the connection "${connectionId}" cannot be reached: ${messageOf(error)}`, {
      cause: error,
    });
  }
  const stop = (): void => void cancel(client);
  signal?.addEventListener("abort", stop);
  try {
    signal?.throwIfAborted();
    // A worker that is killed cancels nothing: the server has to notice. Older ones than 14 cannot, and do without.
    await client.query(`set client_connection_check_interval = '${CHECK}'`).catch(() => undefined);
    return await runAll(client, request, maxBytes);
  } finally {
    signal?.removeEventListener("abort", stop);
    await client.end().catch(() => undefined);
  }
}

async function runAll(client: pg.Client, request: SqlRequest, maxBytes: number): Promise<readonly SqlResult[]> {
  const { statements, autocommit = false, maxRows = MAX_ROWS } = request;
  const results: SqlResult[] = [];
  let left = maxBytes;
  if (!autocommit) await client.query("begin");
  for (const [i, { sql, params }] of statements.entries()) {
    const which = statements.length === 1 ? "the statement" : `statement ${i + 1} of ${statements.length}`;
    try {
      const { bytes, ...result } = await runOne(client, sql, params, { rows: maxRows, bytes: left });
      left -= bytes;
      results.push(result);
    } catch (error) {
      throw new Error(`${which} ${error instanceof TooMuch ? error.message : `failed: ${describe(error)}`}`, {
        cause: error,
      });
    }
  }
  if (!autocommit) await client.query("commit");
  return results;
}

class TooMuch extends Error {}

interface Bounds {
  readonly rows: number;
  readonly bytes: number;
}

/** Row by row, so that a large answer is given up before it fills the worker's memory. */
function runOne(
  client: pg.Client,
  text: string,
  params: readonly Json[],
  bounds: Bounds,
): Promise<SqlResult & { readonly bytes: number }> {
  return new Promise((resolve, reject) => {
    // `extended`: one statement, whatever the text has in it.
    const config = { text, values: params.map(toParameter), rowMode: "array", queryMode: "extended" };
    const query = client.query(new pg.Query(config));
    const rows: (readonly Json[])[] = [];
    let bytes = 0;
    query.on("row", (row: unknown) => {
      if (bytes > bounds.bytes) return;
      const values = (row as unknown[]).map(toJson); // as rowMode says
      rows.push(values);
      bytes += Buffer.byteLength(JSON.stringify(values)) + 1;
      if (rows.length > bounds.rows) {
        bytes = Infinity;
        reject(
          new TooMuch(`gives more than ${bounds.rows} rows: let the database aggregate them, or write them to a table`),
        );
      } else if (bytes > bounds.bytes) {
        reject(new TooMuch(`gives more bytes than a task's value may have: write the rows to a table instead`));
      }
    });
    query.on("error", reject);
    query.on("end", (found) => {
      resolve({ columns: found.fields.map(({ name }) => name), rows, rowCount: found.rowCount, bytes });
    });
  });
}

/** Objects and lists go as JSON; Postgres casts them where a column says so. */
const toParameter = (value: Json): unknown =>
  typeof value === "object" && value !== null && !isFlatList(value) ? JSON.stringify(value) : value;

/** A list of simple values is an array of Postgres, for `= any($1)`. */
const isFlatList = (value: Json): boolean =>
  Array.isArray(value) && value.every((item: Json) => typeof item !== "object" || item === null);

function toJson(value: unknown): Json {
  if (value === null || value === undefined) return null;
  if (value instanceof Date) return value.toISOString();
  if (Buffer.isBuffer(value)) return value.toString("base64");
  if (typeof value === "bigint") return String(value);
  if (typeof value === "number" && !Number.isFinite(value)) return String(value);
  return JSON.parse(JSON.stringify(value)) as Json; // what JSON.parse gives
}

/** As Postgres says it, without the statement's parameters. */
function describe(error: unknown): string {
  const { code, position } = error as { readonly code?: unknown; readonly position?: unknown };
  const where = typeof position === "string" ? ` at character ${position}` : "";
  return `${messageOf(error)}${where}${typeof code === "string" ? ` (${code})` : ""}`;
}

/** The connection that runs a statement hears nothing: another one asks the server to end it. */
async function cancel(client: pg.Client): Promise<void> {
  // Known by the driver, but not by its types.
  const { processID } = client as unknown as { readonly processID: number | null };
  const { host, port, user, password, database, ssl } = client;
  if (processID === null) return;
  const other = new pg.Client({
    host,
    port,
    user: user ?? "",
    password: password ?? "",
    database: database ?? "",
    ssl,
    connectionTimeoutMillis: CONNECT_MS,
  });
  other.on("error", () => undefined);
  try {
    await other.connect();
    await other.query("select pg_cancel_backend($1)", [processID]);
  } catch {
    // The connection is closed as soon as the statement ends, and the attempt ends without it.
  } finally {
    await other.end().catch(() => undefined);
  }
}
