import type { NoArguments } from "../authoring/handlers.ts";
import { Operator } from "../operators/operator.ts";
import { perRun, type PerRun } from "../operators/per-run.ts";
import { date } from "../reading/checks.ts";
import type { RunScope } from "../runtime/run-scope.ts";
import { until, type TimeEvent } from "../triggers/time.ts";
import { builtInSensor } from "./built-in-sensor.ts";
import { pokeReturn } from "./poke-return.ts";
import { readSensorOptions, type SensorOptions } from "./sensor-options.ts";

/** The options of {@link timeSensor}. */
export interface TimeSensorOptions<A extends object> extends SensorOptions {
  /** The moment to wait for. */
  readonly at: PerRun<Date, A>;
}

/**
 * Waits until a moment. In mode `deferrable` it wakes in time, in the others with the next poke. Airflow's
 * `DateTimeSensor`.
 *
 * @example `timeSensor({ at: ({ dataIntervalEnd }) => new Date(Number(dataIntervalEnd) + 3_600_000), mode: "deferrable" })`
 */
export function timeSensor<A extends object = NoArguments>(options: TimeSensorOptions<A>): Operator<A, TimeEvent> {
  const moment = async (inputs: object, { context }: RunScope): Promise<Date> => {
    const at: unknown = await perRun(options.at, context, inputs as A); // the factory's types ask for these inputs
    const wrong = date(at);
    if (wrong !== undefined) throw new TypeError(`timeSensor(): at ${wrong}`);
    return at as Date; // just checked
  };
  return new Operator(
    builtInSensor({
      name: "time_sensor",
      options: readSensorOptions(options, {
        at: (value) => (typeof value === "function" ? undefined : date(value)),
      }),
      problems: [options.at === undefined ? "at is missing" : undefined],
      poke: async (inputs, scope) => {
        const at = await moment(inputs, scope);
        return pokeReturn(at.getTime() <= Date.now(), { at: at.toISOString() });
      },
      trigger: async (inputs, scope) => until(await moment(inputs, scope)),
    }),
  );
}
