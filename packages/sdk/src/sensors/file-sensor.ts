import type { NoArguments } from "../authoring/handlers.ts";
import { Operator } from "../operators/operator.ts";
import type { PerRun } from "../operators/per-run.ts";
import { orTemplate, textField } from "../operators/read-fields.ts";
import { fileExists, FILE_CHECKS, type FileExistsEvent } from "../triggers/file-exists.ts";
import { builtInSensor } from "./built-in-sensor.ts";
import { findFile } from "./find-file.ts";
import { pokeReturn } from "./poke-return.ts";
import { readSensorOptions, type SensorOptions } from "./sensor-options.ts";

/** The options of {@link fileSensor}. */
export interface FileSensorOptions<A extends object> extends SensorOptions {
  /**
   * As the machine sees it that looks: the worker's, and in mode `deferrable` also the triggerer's. May be a pattern with
   * `*`, `?`, `[abc]` and, for any depth, `**`. A template.
   */
  readonly path: PerRun<string, A>;
}

/**
 * Waits until a file is there; its value says which. Airflow's `FileSensor`.
 *
 * @example `fileSensor({ path: "/data/in/{{ ds }}/*.csv", mode: "deferrable" })`
 */
export function fileSensor<A extends object = NoArguments>(
  options: FileSensorOptions<A>,
): Operator<A, FileExistsEvent> {
  const read = readSensorOptions(options, { path: orTemplate(FILE_CHECKS.path) });
  return new Operator(
    builtInSensor({
      name: "file_sensor",
      options: read,
      problems: [options.path === undefined ? "path is missing" : undefined],
      fields: { path: { value: options.path } },
      poke: async (fields) => {
        const found = await findFile(textField(fields, "path"));
        return found === undefined ? false : pokeReturn(true, found);
      },
      triggerName: "millrace.file",
      trigger: (fields) => fileExists({ path: textField(fields, "path"), pollSeconds: read.settings.pokeInterval }),
    }),
  );
}
