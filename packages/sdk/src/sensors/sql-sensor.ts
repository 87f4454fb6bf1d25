import type { NoArguments } from "../authoring/handlers.ts";
import { Operator } from "../operators/operator.ts";
import type { PerRun } from "../operators/per-run.ts";
import { orTemplate, textField } from "../operators/read-fields.ts";
import type { Json } from "../spec/index.ts";
import { SQL_CHECKS, sqlPoll, type SqlPollEvent } from "../triggers/sql-poll.ts";
import { builtInSensor } from "./built-in-sensor.ts";
import { readSensorOptions, type SensorOptions } from "./sensor-options.ts";

/** The options of {@link sqlSensor}. */
export interface SqlSensorOptions<A extends object> extends SensorOptions {
  /** A triggerer has the driver of the database, a worker has none. @default "deferrable" */
  readonly mode?: "deferrable";
  /** A connection to the database. A template. */
  readonly connectionId: string;
  /**
   * One query; the first cell of its first row decides. A template, into which data goes as plain words only: hand it over
   * in `params`.
   */
  readonly sql: string;
  /** What the query's placeholders stand for (`$1`, `$2`, …); texts in it are templates. @default [] */
  readonly params?: PerRun<readonly Json[], A>;
}

/**
 * Waits until the first cell of a query's first row is true: not null, 0, false or empty; its value has the row. In mode
 * `deferrable` only. Airflow's `SqlSensor`.
 */
export function sqlSensor<A extends object = NoArguments>(options: SqlSensorOptions<A>): Operator<A, SqlPollEvent> {
  const { connectionId, sql, params = [] } = options;
  const { params: list, ...checks } = { ...SQL_CHECKS, pollSeconds: () => "is called pokeInterval here" };
  const read = readSensorOptions(options, { ...checks, params: orTemplate(list) }, ["deferrable"]);
  return new Operator(
    builtInSensor({
      name: "sql_sensor",
      options: read,
      problems: [connectionId === undefined || sql === undefined ? "connectionId and sql are needed" : undefined],
      fields: { connectionId: { value: connectionId }, sql: { value: sql, code: "sql" }, params: { value: params } },
      triggerName: "millrace.sql",
      trigger: (fields) =>
        sqlPoll({
          connectionId: textField(fields, "connectionId"),
          sql: textField(fields, "sql"),
          params: fields["params"] as readonly Json[], // the trigger looks at it
          pollSeconds: read.settings.pokeInterval,
        }),
    }),
  );
}
