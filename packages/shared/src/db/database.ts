// The pool of connections of one process, and its transactions. Sessions are bounded on both sides: a half-open
// connection lets go of its locks within 15 s (it is idle for 10 s at most, after what it did before), a statement that
// waits for a lock as long fails and is tried again, and one that gets no answer at all, since the way to the server
// swallows it, is given up.
// Heartbeats have a connection of their own: they must come through while every other one waits for something.
import pg from "pg";
import { AppError, messageOf } from "../errors/index.ts";
import { withoutPassword, type Logger } from "../observability/index.ts";
import {
  CommitUnknownError,
  isCancelled,
  isConnectionLost,
  isUnavailable,
  sqlState,
  wasRolledBack,
} from "./failures.ts";
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
  /** How long a statement may take. Default 60,000. */
  readonly statementMs?: number;
  /**
   * Plans each statement once, for an index at any size of its tables: planning it anew for what it is given costs more than
   * carrying it out on a row or two. Not for reads that are put together from filters. Default false.
   */
  readonly keepPlans?: boolean;
  readonly log: Logger;
}

// bigint columns hold ids and counts far below 2^53.
const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") =>
    oid === 20
      ? (value: string) => Number(value)
      : pg.types.getTypeParser(oid, format as "text")) as typeof pg.types.getTypeParser,
};

// Without jit: before Postgres 18 what cannot do without reading a table whole counts as so dear that it would be compiled.
const KEEP_PLANS = " -c plan_cache_mode=force_generic_plan -c enable_seqscan=off -c jit=off";
const STATEMENT_MS = 60_000;
/** For a lock, for the client's next statement, and for its answer. */
const WAIT_MS = 10_000;
const BEAT_MS = 5_000;
/** On top of what a statement may take at the server: after it nothing comes any more. */
const ANSWER_MS = 5_000;

export class Database implements Queryable {
  readonly url: string;
  readonly #pool: pg.Pool;
  readonly #beats: pg.Pool;
  readonly #options: DatabaseOptions;

  constructor(options: DatabaseOptions) {
    this.url = options.url;
    this.#options = options;
    const statementMs = options.statementMs ?? STATEMENT_MS;
    const beatMs = Math.min(BEAT_MS, statementMs);
    const answerMs = Math.min(ANSWER_MS, statementMs);
    this.#pool = this.#open({
      max: Math.max(1, options.maxConnections - 1),
      connectionTimeoutMillis: 10_000,
      lock_timeout: WAIT_MS,
      statement_timeout: statementMs,
      query_timeout: statementMs + answerMs,
    });
    this.#beats = this.#open({
      max: 1,
      connectionTimeoutMillis: answerMs,
      lock_timeout: beatMs,
      statement_timeout: beatMs,
      query_timeout: beatMs + answerMs,
    });
  }

  #open(bounds: pg.PoolConfig): pg.Pool {
    const pool = new pg.Pool({
      ...bounds,
      connectionString: this.url,
      application_name: `millrace ${this.#options.applicationName}`,
      idleTimeoutMillis: 30_000,
      keepAlive: true,
      idle_in_transaction_session_timeout: WAIT_MS,
      // The server gives a session up whose client does not answer, and with it its locks.
      options: `-c tcp_user_timeout=${WAIT_MS}${this.#options.keepPlans === true ? KEEP_PLANS : ""}`,
      // Statements that do not need each other's answers share a round trip.
      pipeline: true,
      types,
    });
    // Between the pool, which lets go of a connection as it gives it away, and whoever waited for it nobody listens; what the
    // server says in that moment is told again by the connection's next query.
    pool.on("connect", (client) => client.on("error", () => undefined));
    // An idle connection that the server closed; the next query takes another.
    pool.on("error", (error) => this.#options.log.warn({ cause: error.message }, "a database connection was lost"));
    return pool;
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

  /** As `run`, over the connection that is kept free for it: for what must be said in time. */
  async beat<P extends readonly unknown[], R>(statement: Statement<P, R>, params: P): Promise<R[]> {
    return await this.#retrying(wasRolledBack, async () => await runOn(this.#beats, statement, params));
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
    // What took too long once is not begun again at once.
    const canRepeat = (error: unknown) =>
      isUnavailable(error) && !(error instanceof CommitUnknownError) && !isCancelled(error);
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
    await Promise.all([this.#pool.end(), this.#beats.end()]);
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

async function commit(client: pg.PoolClient): Promise<void> {
  try {
    await client.query("commit");
  } catch (error) {
    if (sqlState(error) !== undefined && !isConnectionLost(error)) throw error;
    throw new CommitUnknownError("The connection was lost while a transaction was committed", { cause: error });
  }
}
