import type { NoArguments } from "../authoring/handlers.ts";
import { Operator } from "../operators/operator.ts";
import type { PerRun } from "../operators/per-run.ts";
import { dateField, orTemplate } from "../operators/read-fields.ts";
import { assetEvent, ASSET_CHECKS, type AssetEventEvent } from "../triggers/asset-event.ts";
import { builtInSensor } from "./built-in-sensor.ts";
import { readSensorOptions, type SensorOptions } from "./sensor-options.ts";

/** The options of {@link assetSensor}. One of `name` and `uri` is needed. */
export interface AssetSensorOptions<A extends object> extends SensorOptions {
  /** Only a triggerer can see the events of assets. @default "deferrable" */
  readonly mode?: "deferrable";
  readonly name?: string;
  readonly uri?: string;
  /** Only events later than this count: a Date, or a template for one. @default any that comes after the task began to wait */
  readonly after?: PerRun<Date | string, A>;
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
      after: orTemplate(ASSET_CHECKS.after),
    },
    ["deferrable"],
  );
  return new Operator(
    builtInSensor({
      name: "asset_sensor",
      options: read,
      problems: [name === undefined && uri === undefined ? "give a name, a uri, or both" : undefined],
      fields: { after: { value: after } },
      triggerName: "millrace.asset_event",
      trigger: (fields) =>
        assetEvent({
          ...(name === undefined ? {} : { name }),
          ...(uri === undefined ? {} : { uri }),
          ...(after === undefined ? {} : { after: dateField(fields, "after") }),
          pollSeconds: read.settings.pokeInterval,
        }),
    }),
  );
}
