import type { NoArguments } from "../authoring/handlers.ts";
import { Operator } from "../operators/operator.ts";
import { perRun, type PerRun } from "../operators/per-run.ts";
import { assetEvent, ASSET_CHECKS, type AssetEventEvent } from "../triggers/asset-event.ts";
import { builtInSensor } from "./built-in-sensor.ts";
import { readSensorOptions, type SensorOptions } from "./sensor-options.ts";

/** The options of {@link assetSensor}. One of `name` and `uri` is needed. */
export interface AssetSensorOptions<A extends object> extends SensorOptions {
  /** Only a triggerer can see the events of assets. @default "deferrable" */
  readonly mode?: "deferrable";
  readonly name?: string;
  readonly uri?: string;
  /** Only events later than this count. @default any that comes after the task began to wait */
  readonly after?: PerRun<Date, A>;
}

/** Waits until an asset has a new event; its value has the events. In mode `deferrable` only. */
export function assetSensor<A extends object = NoArguments>(
  options: AssetSensorOptions<A>,
): Operator<A, AssetEventEvent> {
  const { name, uri, after } = options;
  const read = readSensorOptions(
    options,
    {
      name: ASSET_CHECKS.name,
      uri: ASSET_CHECKS.uri,
      after: (value) => (typeof value === "function" ? undefined : ASSET_CHECKS.after(value)),
    },
    ["deferrable"],
  );
  return new Operator(
    builtInSensor({
      name: "asset_sensor",
      options: read,
      problems: [name === undefined && uri === undefined ? "give a name, a uri, or both" : undefined],
      trigger: async (inputs, { context }) =>
        assetEvent({
          ...(name === undefined ? {} : { name }),
          ...(uri === undefined ? {} : { uri }),
          // The factory's types ask for the inputs that `after` takes.
          ...(after === undefined ? {} : { after: await perRun(after, context, inputs as A) }),
          pollSeconds: read.settings.pokeInterval,
        }),
    }),
  );
}
