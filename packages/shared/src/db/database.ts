// The pool of connections of one process, and its transactions. Sessions are bounded: a half-open connection lets go
// of its locks within 15 s, and a statement that waits longer for a lock fails and is tried again.
import pg from "pg";
import { AppError, messageOf } from "../errors/index.ts";
import { withoutPassword, type Logger } from "../observability/index.ts";
import type { Statement } from "./statement.ts";

/** Runs statements: a transaction, or the pool with each statement a transaction of its own. */
export interface Queryable {
  run<P extends readonly unknown[], R>(statement: Statement<P, R>, params: P): Promise<R[]>;
}

export interface TransactionOptions {
  /** Who is named in the transition log. Default: the process. */
  readonly actor?: string;
  /** Only reads, and every statement sees the database as the first one did. */
  readonly snapshot?: boolean;
}

export interface DatabaseOptions {
  readonly url: string;
  /** Shown in pg_stat_activity and, unless an actor is named, in the transition log: `scheduler 12`. */
  readonly applicationName: string;
  readonly maxConnections: number;
  readonly maxRetries: number;
  readonly log: Logger;
}

// bigint columns hold ids and counts far below 2^53.
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === 20
      ? (value: string) => Number(value)
      : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser,
};

export class Database implements Queryable {
  readonly url: string;
  readonly #pool: pg.Pool;
  readonly #options: DatabaseOptions;

  constructor(options: DatabaseOptions) {
    this.url = options.url;
    this.#options = options;
    this.#pool = new pg.Pool({
      connectionString: options.url,
      application_name: `millrace ${options.applicationName}`,
      max: options.maxConnections,
      idleTimeoutMillis: 30_000,
      connectionTimeoutMillis: 10_000,
      keepAlive: true,
      lock_timeout: 15_000,
      idle_in_transaction_session_timeout: 15_000,
      statement_timeout: 60_000,
      // Statements that do not need each other's answers share a round trip.
      pipeline: true,
      types,
    });
    // An idle connection that the server closed; the next query takes another.
    this.#pool.on("error", (error) => options.log.warn({ cause: error.message }, "a database connection was lost"));
  }

  /** @throws AppError DATABASE_UNREACHABLE. */
  async check(): Promise<void> {
    try {
      await this.#pool.query("select 1");
    } catch (error) {
      throw new AppError(
        "DATABASE_UNREACHABLE",
        { target: withoutPassword(this.url), cause: messageOf(error) },
        { cause: error },
      );
    }
  }

  async run<P extends readonly unknown[], R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    return await this.#retrying(wasRolledBack, async () => await runOn(this.#pool, statement, params));
  }

  /** Dynamic reads, built with knex or written in place. */
  async read<R>(sql: string, params: readonly unknown[] = []): Promise<R[]> {
    return (await this.#pool.query(sql, [...params])).rows as R[];
  }

  /**
   * Runs `work` in one transaction and repeats it whole after a deadlock, a serialization failure or a connection
   * lost before the commit. A commit whose answer was lost is not repeated: the caller decides.
   */
  async transaction<T>(work: (tx: Queryable) => Promise<T>, options: TransactionOptions = {}): Promise<T> {
    const canRepeat = (error: unknown) => wasRolledBack(error) || isConnectionLost(error);
    return await this.#retrying(canRepeat, async () => {
      const client = await this.#pool.connect();
      let broken = false;
      const noteBroken = () => {
        broken = true;
      };
      client.on("error", noteBroken);
      try {
        // Not awaited: the first statement travels with it. Should it fail, the connection is broken and so is that one.
        const begin = options.snapshot === true ? "begin isolation level repeatable read, read only" : "begin";
        client.query(begin).catch(noteBroken);
        if (options.actor !== undefined) {
          client.query("select set_config('millrace.actor', $1, true)", [options.actor]).catch(noteBroken);
        }
        const result = await work({ run: async (statement, params) => await runOn(client, statement, params) });
        await commit(client);
        return result;
      } catch (error) {
        await client.query("rollback").catch(noteBroken);
        throw error;
      } finally {
        client.off("error", noteBroken);
        client.release(broken);
      }
    });
  }

  /** Hands a connection out for something that holds it, as LISTEN does. The caller ends it. */
  async dedicated(): Promise<pg.Client> {
    const client = new pg.Client({
      connectionString: this.url,
      application_name: `millrace ${this.#options.applicationName} listen`,
      keepAlive: true,
    });
    await client.connect();
    return client;
  }

  async close(): Promise<void> {
    await this.#pool.end();
  }

  async #retrying<T>(canRepeat: (error: unknown) => boolean, attempt: () => Promise<T>): Promise<T> {
    for (let retry = 0; ; retry++) {
      try {
        return await attempt();
      } catch (error) {
        if (retry >= this.#options.maxRetries || !canRepeat(error)) throw error;
        this.#options.log.debug({ cause: messageOf(error), retry }, "a transaction is tried again");
        await new Promise((resolve) => setTimeout(resolve, 10 * 2 ** retry * (0.5 + Math.random())));
      }
    }
  }
}

async function runOn<P extends readonly unknown[], R>(
  on: pg.Pool | pg.PoolClient,
  statement: Statement<P, R>,
  params: P,
): Promise<R[]> {
  const result = await on.query({ name: statement.name, text: statement.sql, values: [...params] });
  return result.rows as R[];
}

/** The answer to a COMMIT was lost: it may have happened or not. */
export class CommitUnknownError extends Error {
  override readonly name = "CommitUnknownError";
}

async function commit(client: pg.PoolClient): Promise<void> {
  try {
    await client.query("commit");
  } catch (error) {
    if (sqlState(error) !== undefined && !isConnectionLost(error)) throw error;
    throw new CommitUnknownError("The connection was lost while a transaction was committed", { cause: error });
  }
}

const RETRYABLE = new Set([
  "40001", // serialization failure
  "40P01", // deadlock
  "55P03", // lock timeout
]);

function sqlState(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && /^[0-9A-Z]{5}$/.test(code) ? code : undefined;
}

/** A single statement commits by itself: when its connection is lost, nobody knows whether it was. */
function wasRolledBack(error: unknown): boolean {
  const state = sqlState(error);
  return state !== undefined && RETRYABLE.has(state);
}

/** Before a commit is asked for, nothing of a transaction stays when its connection is lost. */
function isConnectionLost(error: unknown): boolean {
  const state = sqlState(error);
  // 08: connection exception; 57P01 to 57P03: the server shuts down, has crashed, or is starting.
  if (state !== undefined) return /^(08|57P0[123])/.test(state);
  const { code, message } = (error ?? {}) as { code?: unknown; message?: unknown };
  return (
    (typeof code === "string" && /^(ECONN|EPIPE|ETIMEDOUT)/.test(code)) ||
    (typeof message === "string" && /^(Connection terminated|Client has encountered a connection error)/.test(message))
  );
}
