// Databases of the user's that something asks now and then: a few connections each, with bounded statements, opened by
// connection and kept while they are used.
import pg from "pg";
import type { ConnectionValue } from "@millrace/sdk/runtime";
import { messageOf } from "../errors/index.ts";
import { foreignClientConfig } from "./foreign-client.ts";

export interface ForeignDatabasesOptions {
  /** Of one database. */
  readonly maxConnections: number;
  readonly statementTimeoutMs: number;
}

export type ForeignAnswer =
  | { readonly rows: readonly Readonly<Record<string, unknown>>[] }
  /** The statement itself is wrong, or not allowed: asking again gives the same. */
  | { readonly refused: string };

/** Syntax errors, unknown names, missing rights, wrong values and wrong numbers of parameters. */
const REFUSED = /^(42|22|0A|08P01$)/;
const IDLE_MS = 60_000;

export class ForeignDatabases {
  readonly #options: ForeignDatabasesOptions;
  readonly #pools = new Map<string, pg.Pool>();

  constructor(options: ForeignDatabasesOptions) {
    this.#options = options;
  }

  /** Rejects when the database cannot be reached, or does not answer in time. */
  async ask(connection: ConnectionValue, sql: string, params: readonly unknown[]): Promise<ForeignAnswer> {
    try {
      const result = await this.#poolOf(connection).query<Record<string, unknown>>(sql, [...params]);
      return { rows: result.rows };
    } catch (error) {
      const code = (error as { code?: unknown }).code;
      if (typeof code === "string" && REFUSED.test(code)) return { refused: messageOf(error) };
      throw error;
    }
  }

  async close(): Promise<void> {
    const pools = [...this.#pools.values()];
    this.#pools.clear();
    await Promise.all(pools.map((pool) => pool.end()));
  }

  /** A connection whose values changed is another one. */
  #poolOf(connection: ConnectionValue): pg.Pool {
    const key = JSON.stringify(connection);
    let pool = this.#pools.get(key);
    if (pool === undefined) {
      pool = new pg.Pool({
        ...foreignClientConfig(connection),
        max: this.#options.maxConnections,
        statement_timeout: this.#options.statementTimeoutMs,
        query_timeout: this.#options.statementTimeoutMs + 5_000,
        idleTimeoutMillis: IDLE_MS,
        application_name: "millrace trigger",
        allowExitOnIdle: true,
      });
      pool.on("error", () => undefined);
      this.#pools.set(key, pool);
    }
    return pool;
  }
}
