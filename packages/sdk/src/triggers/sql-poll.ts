import { name, seconds, show, type Check } from "../reading/checks.ts";
import type { Json } from "../spec/index.ts";
import { builtIn, POLL_SECONDS } from "./built-in.ts";
import type { Trigger } from "./trigger.ts";

/** Which query to ask again and again. */
export interface SqlPollOptions {
  /** A connection to the database. */
  readonly connectionId: string;
  /** One query; the first cell of its first row decides. */
  readonly sql: string;
  /** What the query's placeholders stand for (`$1`, `$2`, …). Never build the query from data. @default [] */
  readonly params?: readonly Json[];
  /** Seconds between two queries. @default 60 */
  readonly pollSeconds?: number;
}

/** The first row of the answer that was waited for. */
export interface SqlPollEvent {
  readonly row: Json;
}

export const SQL_CHECKS: Readonly<Record<keyof SqlPollOptions, Check>> = {
  connectionId: name(250),
  sql: name(1_000_000),
  params: (value) => (Array.isArray(value) ? undefined : `must be an array, got ${show(value)}`),
  pollSeconds: seconds("positive"),
};

/** Fires when the first cell of a query's first row is true: not null, 0, false or empty. Airflow's `SqlSensor`. */
export function sqlPoll(options: SqlPollOptions): Trigger<SqlPollEvent> {
  const { connectionId, sql, params = [], pollSeconds = POLL_SECONDS } = options;
  return builtIn(
    "sql",
    options,
    SQL_CHECKS,
    () => ({ connectionId, sql, params, pollSeconds }),
    () => (connectionId === undefined || sql === undefined ? ["connectionId and sql are needed"] : []),
  );
}
