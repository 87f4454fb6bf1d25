import type { NoArguments } from "../authoring/handlers.ts";
import { Operator } from "../operators/operator.ts";
import type { PerRun } from "../operators/per-run.ts";
import { dateField, orTemplate } from "../operators/read-fields.ts";
import { date } from "../reading/checks.ts";
import { until, type TimeEvent } from "../triggers/time.ts";
import { builtInSensor } from "./built-in-sensor.ts";
import { pokeReturn } from "./poke-return.ts";
import { readSensorOptions, type SensorOptions } from "./sensor-options.ts";

/** The options of {@link timeSensor}. */
export interface TimeSensorOptions<A extends object> extends SensorOptions {
  /** The moment to wait for: a Date, or a template for one. */
  readonly at: PerRun<Date | string, A>;
}

/**
 * Waits until a moment. In mode `deferrable` it wakes in time, in the others with the next poke. Airflow's
 * `DateTimeSensor`.
 *
 * @example `timeSensor({ at: "{{ data_interval_end.add(hours=1) }}", mode: "deferrable" })`
 */
export function timeSensor<A extends object = NoArguments>(options: TimeSensorOptions<A>): Operator<A, TimeEvent> {
  return new Operator(
    builtInSensor({
      name: "time_sensor",
      options: readSensorOptions(options, { at: orTemplate(date) }),
      problems: [options.at === undefined ? "at is missing" : undefined],
      fields: { at: { value: options.at } },
      poke: (fields) => {
        const at = dateField(fields, "at");
        return pokeReturn(at.getTime() <= Date.now(), { at: at.toISOString() });
      },
      triggerName: "millrace.time",
      trigger: (fields) => until(dateField(fields, "at")),
    }),
  );
}
