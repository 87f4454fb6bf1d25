import type { NoArguments } from "../authoring/handlers.ts";
import { Operator } from "../operators/operator.ts";
import { perRun, type PerRun } from "../operators/per-run.ts";
import { fileExists, FILE_CHECKS, type FileExistsEvent } from "../triggers/file-exists.ts";
import { builtInSensor } from "./built-in-sensor.ts";
import { findFile } from "./find-file.ts";
import { pokeReturn } from "./poke-return.ts";
import { readSensorOptions, type SensorOptions } from "./sensor-options.ts";

/** The options of {@link fileSensor}. */
export interface FileSensorOptions<A extends object> extends SensorOptions {
  /**
   * As the machine sees it that looks: the worker's, and in mode `deferrable` also the triggerer's. May be a pattern with
   * `*`, `?`, `[abc]` and, for any depth, `**`.
   */
  readonly path: PerRun<string, A>;
}

/** Waits until a file is there; its value says which. Airflow's `FileSensor`. */
export function fileSensor<A extends object = NoArguments>(
  options: FileSensorOptions<A>,
): Operator<A, FileExistsEvent> {
  const read = readSensorOptions(options, {
    path: (value) => (typeof value === "function" ? undefined : FILE_CHECKS.path(value)),
  });
  return new Operator(
    builtInSensor({
      name: "file_sensor",
      options: read,
      problems: [options.path === undefined ? "path is missing" : undefined],
      poke: async (inputs, { context }) => {
        // The factory's types ask for the inputs that `path` takes.
        const found = await findFile(await perRun(options.path, context, inputs as A));
        return found === undefined ? false : pokeReturn(true, found);
      },
      trigger: async (inputs, { context }) =>
        fileExists({
          path: await perRun(options.path, context, inputs as A),
          pollSeconds: read.settings.pokeInterval,
        }),
    }),
  );
}
