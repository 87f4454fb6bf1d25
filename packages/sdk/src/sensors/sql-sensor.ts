import type { NoArguments } from "../authoring/handlers.ts";
import { Operator } from "../operators/operator.ts";
import { perRun, type PerRun } from "../operators/per-run.ts";
import type { Json } from "../spec/index.ts";
import { SQL_CHECKS, sqlPoll, type SqlPollEvent } from "../triggers/sql-poll.ts";
import { builtInSensor } from "./built-in-sensor.ts";
import { readSensorOptions, type SensorOptions } from "./sensor-options.ts";

/** The options of {@link sqlSensor}. */
export interface SqlSensorOptions<A extends object> extends SensorOptions {
  /** A triggerer has the driver of the database, a worker has none. @default "deferrable" */
  readonly mode?: "deferrable";
  /** A connection to the database. */
  readonly connectionId: string;
  /** One query; the first cell of its first row decides. */
  readonly sql: string;
  /** What the query's placeholders stand for (`$1`, `$2`, …). Never build the query from data. @default [] */
  readonly params?: PerRun<readonly Json[], A>;
}

/**
 * Waits until the first cell of a query's first row is true: not null, 0, false or empty; its value has the row. In mode
 * `deferrable` only. Airflow's `SqlSensor`.
 */
export function sqlSensor<A extends object = NoArguments>(options: SqlSensorOptions<A>): Operator<A, SqlPollEvent> {
  const { connectionId, sql, params = [] } = options;
  const { params: list, ...checks } = { ...SQL_CHECKS, pollSeconds: () => "is called pokeInterval here" };
  const read = readSensorOptions(
    options,
    { ...checks, params: (value) => (typeof value === "function" ? undefined : list(value)) },
    ["deferrable"],
  );
  return new Operator(
    builtInSensor({
      name: "sql_sensor",
      options: read,
      problems: [connectionId === undefined || sql === undefined ? "connectionId and sql are needed" : undefined],
      trigger: async (inputs, { context }) =>
        sqlPoll({
          connectionId,
          sql,
          params: await perRun(params, context, inputs as A), // the factory's types ask for these inputs
          pollSeconds: read.settings.pokeInterval,
        }),
    }),
  );
}
