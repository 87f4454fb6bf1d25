// Assets of schedules, outlets and inlets, as data. One file can bundle the SDK's classes only once, so `instanceof` is
// enough to know them.
import { Asset, AssetAlias, AssetRef, type AssetUse } from "../assets/asset.ts";
import { AssetAll, AssetAny, AssetOrTime, PartitionedAssets } from "../assets/conditions.ts";
import { assetName, assetUri } from "../assets/check-asset.ts";
import type { AssetConditionSpec, AssetUseSpec, PartitionMapperSpec, ScheduleSpec } from "../spec/index.ts";
import { show } from "./checks.ts";
import { wrongMapper } from "./check-mapper.ts";
import { present } from "./present.ts";

type AssetSchedule = AssetUse | AssetAll | AssetAny | AssetOrTime | PartitionedAssets | readonly unknown[];

export const isAssetSchedule = (schedule: unknown): schedule is AssetSchedule =>
  Array.isArray(schedule) ||
  isUse(schedule) ||
  schedule instanceof AssetAll ||
  schedule instanceof AssetAny ||
  schedule instanceof AssetOrTime ||
  schedule instanceof PartitionedAssets;

const isUse = (value: unknown): value is AssetUse =>
  value instanceof Asset || value instanceof AssetRef || value instanceof AssetAlias;

export function readAssetSchedule(
  schedule: AssetSchedule,
  /** Reads the time half of assetOrTime(…). */
  readTime: (schedule: unknown) => ScheduleSpec,
  report: (message: string) => void,
): ScheduleSpec {
  if (schedule instanceof PartitionedAssets) return readPartitioned(schedule, report);
  if (!(schedule instanceof AssetOrTime)) {
    return { kind: "assets", assets: readCondition(schedule, (wrong) => report(`schedule: ${wrong}`)) };
  }
  const assets = readCondition(schedule.assets, (wrong) => report(`schedule: assets of assetOrTime(…): ${wrong}`));
  if (isAssetSchedule(schedule.schedule) || schedule.schedule === undefined || schedule.schedule === null) {
    report(`schedule: assetOrTime(…) needs a schedule by time, got ${show(schedule.schedule)}`);
    return { kind: "none" };
  }
  const time = readTime(schedule.schedule);
  return time.kind === "assets" || time.kind === "assetOrTime"
    ? { kind: "none" }
    : { kind: "assetOrTime", time, assets };
}

function readPartitioned(schedule: PartitionedAssets, report: (message: string) => void): ScheduleSpec {
  const wrong = (message: string) => report(`schedule: partitionedAssets(…): ${message}`);
  const assets = readCondition(schedule.assets, wrong);
  const single: unknown = schedule.mappers ?? [];
  if (!Array.isArray(single)) wrong(`mappers must be an array of { asset, mapper }, got ${show(single)}`);
  const entries = (Array.isArray(single) ? single : []) as readonly { asset?: unknown; mapper?: unknown }[];
  const mapper = schedule.mapper ?? { kind: "identity" };
  for (const given of [mapper, ...entries.map((entry) => entry?.mapper)]) {
    const problem = wrongMapper(given);
    if (problem !== undefined) wrong(problem);
  }
  return {
    kind: "assets",
    assets,
    partition: {
      mapper: mapper as PartitionMapperSpec, // every one was just checked
      mappers: entries.flatMap((entry) => {
        const use = readUse(entry?.asset, wrong);
        return use === undefined ? [] : [{ use, mapper: entry.mapper as PartitionMapperSpec }];
      }),
    },
  };
}

function readCondition(condition: unknown, report: (message: string) => void): AssetConditionSpec {
  const several = (all: readonly unknown[], what: string): AssetConditionSpec[] => {
    if (all.length === 0) report(`${what} needs one asset or more`);
    return all.map((one) => readCondition(one, report));
  };
  if (Array.isArray(condition)) {
    const all = several(condition, "the array");
    return all.length === 1 && all[0] !== undefined ? all[0] : { all };
  }
  if (condition instanceof AssetAll) return { all: several(condition.conditions, "allOf(…)") };
  if (condition instanceof AssetAny) return { any: several(condition.conditions, "anyOf(…)") };
  return readUse(condition, report) ?? { all: [] };
}

function readUse(value: unknown, report: (message: string) => void): AssetUseSpec | undefined {
  const wrong = wrongUse(value);
  if (wrong !== undefined) {
    report(wrong);
    return undefined;
  }
  return specOf(value as AssetUse); // as was just checked
}

function wrongUse(value: unknown): string | undefined {
  if (value instanceof Asset) {
    return value.problems.length === 0 ? undefined : `asset ${show(value.name)}: ${value.problems.join("; ")}`;
  }
  if (value instanceof AssetAlias) {
    const wrong = assetName(value.name);
    return wrong === undefined ? undefined : `the name of an asset alias ${wrong}`;
  }
  if (value instanceof AssetRef) {
    const wrong = value.uri === undefined ? ["name", assetName(value.name)] : (["uri", assetUri(value.uri)] as const);
    return wrong[1] === undefined ? undefined : `Asset.ref(…): ${wrong[0]} ${wrong[1]}`;
  }
  return `must be an asset, Asset.ref(…) or an alias, got ${show(value)}`;
}

function specOf(use: AssetUse): AssetUseSpec {
  if (use instanceof AssetAlias) return { alias: { name: use.name, group: use.group } };
  if (use instanceof AssetRef) return { ref: present({ name: use.name, uri: use.uri }) };
  const { name, uri, group, extra, watchers } = use;
  return {
    asset: {
      ...{ name, uri, group },
      ...(Object.keys(extra).length === 0 ? {} : { extra }),
      ...(watchers.length === 0
        ? {}
        : { watchers: watchers.map((watcher) => ({ name: watcher.name, trigger: watcher.trigger.spec })) }),
    },
  };
}

/** The check of the options `outlets` and `inlets`. */
export const assetUses = (value: unknown): string | undefined => {
  const wrong = [value]
    .flat()
    .map(wrongUse)
    .find((problem) => problem !== undefined);
  return wrong === undefined ? undefined : wrong.startsWith("must") ? wrong : `: ${wrong}`;
};

/** Undefined when there are none, so that a task without assets looks as it always did. */
export function usesOf(uses: AssetUse | readonly AssetUse[] | undefined): readonly AssetUseSpec[] | undefined {
  const all = [uses ?? []].flat();
  return all.length === 0 ? undefined : all.map(specOf);
}
