import type { NoArguments } from "../authoring/handlers.ts";
import { boolean, checkOptions, integer, name, oneOf, seconds, show } from "../reading/checks.ts";
import type { SqlResult } from "../runtime/protocol.ts";
import type { Json } from "../spec/index.ts";
import { encodeJson } from "../values/encode-json.ts";
import { Operator } from "./operator.ts";
import type { PerRun } from "./per-run.ts";
import { orTemplate, textField } from "./read-fields.ts";

/** One statement, with what its placeholders stand for. */
export interface SqlStatement {
  readonly sql: string;
  /** For `$1`, `$2`, … @default [] */
  readonly params?: readonly Json[];
}

/** The options of {@link sql}. */
export interface SqlOptions<A extends object = NoArguments> {
  /** A connection to Postgres. Its password stays with the worker. A template. */
  readonly connectionId: string;
  /**
   * One statement, or several that are run in order. A template; what `{{ … }}` takes from params, the run's conf, inputs
   * and other tasks must be a plain word: hand data over in `params`.
   */
  readonly sql: PerRun<string | readonly (string | SqlStatement)[], A>;
  /** What `$1`, `$2`, … stand for, when `sql` is one statement. Texts in it are templates. @default [] */
  readonly params?: PerRun<readonly Json[], A>;
  /**
   * What the task's value is made of: all rows as objects, the first one, the first cell of the first row, or how many rows
   * there were. Of several statements it is the last one that counts. @default "rows"
   */
  readonly result?: "rows" | "firstRow" | "firstCell" | "rowCount" | "none";
  /** Each statement by itself, for what cannot be in a transaction. @default false: all of them or none */
  readonly autocommit?: boolean;
  /** Seconds that one statement may take. @default no limit but that of the task */
  readonly timeout?: number;
  /** More rows of one statement fail the task. @default 10000 */
  readonly maxRows?: number;
}

/**
 * Runs statements on Postgres. The worker runs them, so that a DAG's code needs neither driver nor password, and cancels
 * them when the task has to stop. Dates come as ISO 8601, those without a zone without one, numbers that a double cannot hold
 * as texts, binary data as base64. Airflow's `SQLExecuteQueryOperator`.
 *
 * @example `dag.task("count", sql({ connectionId: "shop", sql: "select count(*) from orders where day = $1", params: ["{{ ds }}"], result: "firstCell" }))`
 */
export function sql<R = Json, A extends object = NoArguments>(options: SqlOptions<A>): Operator<A, R> {
  return new Operator<A, R>({
    name: "sql",
    problems: wrongOptions(options),
    fields: {
      connectionId: { value: options.connectionId },
      sql: { value: options.sql, code: "sql" },
      params: { value: options.params },
    },
    run: async (_inputs, { host, maxXComBytes }, fields) => {
      if (host.runSql === undefined) throw new Error("statements need a worker: this process has none");
      const { autocommit, timeout, maxRows } = options;
      const results = await host.runSql({
        connectionId: textField(fields, "connectionId"),
        statements: statementsOf(fields["sql"], fields["params"], maxXComBytes),
        ...(autocommit === undefined ? {} : { autocommit }),
        ...(timeout === undefined ? {} : { timeoutSeconds: timeout }),
        ...(maxRows === undefined ? {} : { maxRows }),
      });
      for (const { rowCount } of results) if (rowCount !== null) host.log("info", `${rowCount} rows`);
      // What `R` is is the caller's claim, as it is for an XCom.
      return valueOf(results.at(-1), options.result ?? "rows") as R;
    },
  });
}

function statementsOf(given: unknown, params: unknown, maxBytes: number | undefined) {
  const list: readonly unknown[] = Array.isArray(given) ? given : [given];
  return list.map((entry) => {
    const own = typeof entry === "object" && entry !== null ? (entry as Partial<SqlStatement>) : { sql: entry };
    if (typeof own.sql !== "string" || own.sql.trim() === "") {
      throw new TypeError(`sql must be a statement, got ${show(own.sql)}`);
    }
    const values = "params" in own && own.params !== undefined ? own.params : list.length === 1 ? (params ?? []) : [];
    if (!Array.isArray(values)) throw new TypeError(`params must be an array, got ${show(values)}`);
    return { sql: own.sql, params: values.map((value) => encodeJson(value ?? null, maxBytes)) };
  });
}

function valueOf(result: SqlResult | undefined, what: NonNullable<SqlOptions["result"]>): Json | undefined {
  if (result === undefined || what === "none") return undefined;
  if (what === "rowCount") return result.rowCount;
  const [first] = result.rows;
  if (what === "firstCell") return first?.[0] ?? null;
  const toObject = (row: readonly Json[]) =>
    Object.fromEntries(result.columns.map((name, i) => [name, row[i] ?? null]));
  if (what === "firstRow") return first === undefined ? null : toObject(first);
  return result.rows.map(toObject);
}

function wrongOptions(options: SqlOptions<never>): readonly string[] {
  const statement = orTemplate((value) =>
    typeof value === "string" || Array.isArray(value)
      ? undefined
      : `must be a statement or an array of them, got ${show(value)}`,
  );
  const list = orTemplate((value) => (Array.isArray(value) ? undefined : `must be an array, got ${show(value)}`));
  const hasBoth = Array.isArray(options?.sql) && options.sql.length !== 1 && options.params !== undefined;
  return [
    ...(options?.connectionId === undefined || options.sql === undefined ? ["connectionId and sql are needed"] : []),
    ...(hasBoth ? ["params goes with one statement: give each of several its own, as { sql, params }"] : []),
    ...checkOptions(options, {
      connectionId: name(250),
      sql: statement,
      params: list,
      result: oneOf(["rows", "firstRow", "firstCell", "rowCount", "none"]),
      autocommit: boolean,
      timeout: seconds("positive"),
      maxRows: integer(1, 1_000_000),
    }),
  ];
}
