// Schedules that wait for assets. They only describe: reading/read-assets.ts checks them when the DAG is read.
import type { PartitionMapperSpec } from "../spec/index.ts";
import type { DeclaredSchedule } from "../authoring/schedules.ts";
import type { SchedulePreset } from "../authoring/dag-options.ts";
import type { Timetable } from "../authoring/timetable.ts";
import type { Asset, AssetAlias, AssetRef, AssetUse } from "./asset.ts";

/** What a DAG can wait for: one thing, or several, nested as deep as wanted. */
export type AssetCondition = AssetUse | AssetAll | AssetAny;

/** Made by {@link allOf}. */
export class AssetAll {
  readonly conditions: readonly AssetCondition[];
  constructor(conditions: readonly AssetCondition[]) {
    this.conditions = conditions;
  }
}

/** Made by {@link anyOf}. */
export class AssetAny {
  readonly conditions: readonly AssetCondition[];
  constructor(conditions: readonly AssetCondition[]) {
    this.conditions = conditions;
  }
}

/** Met when every one of these has come since the last run. Airflow's `a & b`. */
export const allOf = (...conditions: readonly AssetCondition[]): AssetAll => new AssetAll(conditions);

/** Met as soon as one of these has come since the last run. Airflow's `a | b`. */
export const anyOf = (...conditions: readonly AssetCondition[]): AssetAny => new AssetAny(conditions);

/** Made by {@link assetOrTime}. */
export class AssetOrTime {
  readonly schedule: unknown;
  readonly assets: unknown;
  constructor(schedule: unknown, assets: unknown) {
    this.schedule = schedule;
    this.assets = assets;
  }
}

/**
 * Runs by time, and one more whenever the assets have come; each counts for itself. Airflow's `AssetOrTimeSchedule`.
 *
 * @example `assetOrTime({ schedule: "0 6 * * *", assets: anyOf(orders, refunds) })`
 */
export function assetOrTime(options: {
  readonly schedule: SchedulePreset | (string & {}) | DeclaredSchedule | Timetable;
  readonly assets: AssetCondition | readonly AssetCondition[];
}): AssetOrTime {
  return new AssetOrTime(options?.schedule, options?.assets);
}

/** Made by {@link partitionedAssets}. */
export class PartitionedAssets {
  readonly assets: unknown;
  readonly mapper: unknown;
  readonly mappers: unknown;
  constructor(assets: unknown, mapper: unknown, mappers: unknown) {
    this.assets = assets;
    this.mapper = mapper;
    this.mappers = mappers;
  }
}

/**
 * One run for each partition key: it starts when the assets have come for that key, and `getContext().partitionKey` is the
 * key. Events without a key start nothing here, and those with one nothing elsewhere. Airflow's
 * `PartitionedAssetTimetable`.
 *
 * @example
 * ```ts
 * schedule: partitionedAssets({ assets: allOf(orders, refunds), mapper: startOf("day") })
 * ```
 */
export function partitionedAssets(options: {
  readonly assets: AssetCondition | readonly AssetCondition[];
  /** From the key of an event to the key of a run. @default the same key */
  readonly mapper?: PartitionMapperSpec;
  /** For single assets, in place of `mapper`. */
  readonly mappers?: readonly { readonly asset: Asset | AssetRef | AssetAlias; readonly mapper: PartitionMapperSpec }[];
}): PartitionedAssets {
  return new PartitionedAssets(options?.assets, options?.mapper, options?.mappers);
}

/** The key as it is. */
export const sameKey = (): PartitionMapperSpec => ({ kind: "identity" });

/**
 * The beginning of the hour, day, week (Monday), month, quarter or year that the key, a date, lies in: many keys
 * become one.
 *
 * @param options formats as of `strftime`, with `%Y %m %d %H %M %S %V %q`
 */
export const startOf = (
  unit: "hour" | "day" | "week" | "month" | "quarter" | "year",
  options: {
    /** @default "%Y-%m-%dT%H:%M:%S" */
    readonly inputFormat?: string;
    /** @default that of the unit: `%Y-%m-%dT%H`, `%Y-%m-%d`, `%Y-%m-%d (W%V)`, `%Y-%m`, `%Y-Q%q` or `%Y` */
    readonly outputFormat?: string;
  } = {},
): PartitionMapperSpec => ({ kind: "startOf", unit, ...options });

/** One mapper for each part of a key. @param delimiter between the parts. Default `|`. */
export const productOf = (mappers: readonly PartitionMapperSpec[], delimiter = "|"): PartitionMapperSpec => ({
  kind: "product",
  mappers,
  delimiter,
});

/** One mapper after the other. */
export const chainOf = (...mappers: readonly PartitionMapperSpec[]): PartitionMapperSpec => ({
  kind: "chain",
  mappers,
});

/** Only these keys; others start nothing. */
export const allowedKeys = (...keys: readonly string[]): PartitionMapperSpec => ({ kind: "allowed", keys });
