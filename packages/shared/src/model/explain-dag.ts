// Why a DAG has no new run: what its schedule waits for, and what holds back the run that it would get. Pure: one snapshot
// in, conditions out. INVARIANT: a DAG always has at least one condition.
import type { AssetConditionSpec, AssetUseSpec, ScheduleSpec } from "@millrace/sdk/spec";
import { isConditionMet, isMeant, usesIn, type PresentAsset } from "./asset-condition.ts";
import type { Condition } from "./conditions.ts";

/** An asset that a schedule names, or that an alias of it stands for. Instants are milliseconds since the epoch. */
export interface AwaitedAsset extends PresentAsset {
  /** Some DAG declares it, or an alias has stood for it. */
  readonly isActive: boolean;
  /** Since when an event of it waits for the DAG; null: none does. */
  readonly since: number | null;
  readonly lastEvent: {
    readonly at: number;
    readonly partitionKey: string | null;
    /** The run of the DAG that has it. */
    readonly runId: string | null;
  } | null;
  readonly producers: readonly { readonly dagId: string; readonly taskId: string; readonly isPaused: boolean }[];
  readonly watchers: readonly string[];
}

export interface DagSituation {
  readonly now: number;
  readonly schedulers: { readonly live: number; readonly lastSeen: number | null };
  readonly isPaused: boolean;
  readonly isStale: boolean;
  readonly hasImportErrors: boolean;
  readonly maxActiveRuns: number;
  /** Runs that hold its places, queued ones with them: those of backfills have their own. */
  readonly active: readonly string[];
  readonly nextRunAt: number | null;
  readonly schedule: ScheduleSpec;
  /** What a schedule of code said when it failed. */
  readonly scheduleError: string | null;
  readonly assets: readonly AwaitedAsset[];
  /** Partition keys for which something has come, and no run yet; the oldest first. */
  readonly keys: readonly { readonly key: string; readonly since: number; readonly present: readonly PresentAsset[] }[];
}

export function explainDag(s: DagSituation): readonly Condition[] {
  const { live, lastSeen } = s.schedulers;
  const holds: Condition[] = [];
  if (s.isStale) holds.push({ kind: "dag_gone" });
  if (s.hasImportErrors) holds.push({ kind: "dag_unreadable" });
  if (s.isPaused) holds.push({ kind: "dag_paused" });
  if (s.scheduleError !== null) holds.push({ kind: "schedule_fails", cause: s.scheduleError });
  if (s.active.length >= s.maxActiveRuns) holds.push({ kind: "dag_is_full", of: s.maxActiveRuns, active: s.active });
  if (live === 0) holds.push({ kind: "no_live_scheduler", lastSeen });
  const { schedule } = s;
  const byTime =
    schedule.kind === "assets" ? [] : ofTime(s, schedule.kind === "assetOrTime" ? schedule.time : schedule);
  const byAssets =
    schedule.kind !== "assets" && schedule.kind !== "assetOrTime"
      ? []
      : schedule.kind === "assets" && schedule.partition !== undefined
        ? ofKeys(s, schedule.assets)
        : ofAssets(s, schedule.assets);
  const waits = [...byTime, ...byAssets];
  const isReady = waits.some(({ kind }) => kind === "assets_have_come");
  return [...holds, ...waits, ...(isReady && holds.length === 0 ? [{ kind: "dag_gets_run" } as const] : [])];
}

function ofTime(s: DagSituation, time: ScheduleSpec): Condition[] {
  if (time.kind === "none") return [{ kind: "no_schedule" }];
  return s.nextRunAt === null ? [{ kind: "schedule_over" }] : [{ kind: "next_run", until: s.nextRunAt }];
}

function ofAssets(s: DagSituation, condition: AssetConditionSpec): Condition[] {
  const present = s.assets.filter((asset) => asset.since !== null);
  const uses = usesIn(condition);
  const come = uses.flatMap((use): Condition[] => {
    const since = present.filter((asset) => isMeant(use, asset)).flatMap((asset) => asset.since ?? []);
    return since.length === 0 ? [] : [{ kind: "asset_has_come", asset: nameOf(use), since: Math.min(...since) }];
  });
  if (isConditionMet(condition, present)) return [{ kind: "assets_have_come" }, ...come];
  return [
    { kind: "assets_awaited", condition: sayAssets(condition) },
    ...come,
    ...missingIn(condition, present).map((use) => whyMissing(s, use, false)),
  ];
}

function ofKeys(s: DagSituation, condition: AssetConditionSpec): Condition[] {
  const waits = s.keys.map(({ key, since, present }): Condition => {
    const missing = missingIn(condition, present).map(nameOf);
    return missing.length === 0
      ? { kind: "assets_have_come", key }
      : { kind: "key_awaits_assets", key, since, missing };
  });
  if (waits.length > 0) return waits;
  return [
    { kind: "assets_awaited", condition: sayAssets(condition) },
    ...usesIn(condition).map((use) => whyMissing(s, use, true)),
  ];
}

/** The parts without which the condition stays unmet. */
function missingIn(condition: AssetConditionSpec, present: readonly PresentAsset[]): readonly AssetUseSpec[] {
  if (isConditionMet(condition, present)) return [];
  if ("all" in condition) return condition.all.flatMap((part) => missingIn(part, present));
  if ("any" in condition) return condition.any.flatMap((part) => missingIn(part, present));
  return [condition];
}

function whyMissing({ assets }: DagSituation, use: AssetUseSpec, isByKey: boolean): Condition {
  const meant = assets.filter((asset) => isMeant(use, asset));
  const last = meant.flatMap(({ lastEvent }) => lastEvent ?? []).sort((a, b) => b.at - a.at)[0];
  const hasWrongKey = last !== undefined && last.runId === null && (last.partitionKey === null) === isByKey;
  return {
    kind: "asset_awaited",
    asset: nameOf(use),
    isAlias: "alias" in use,
    isKnown: meant.some((asset) => asset.isActive),
    lastEventAt: last?.at ?? null,
    lastRunId: last?.runId ?? null,
    ...(hasWrongKey ? { wrongKey: last.partitionKey } : {}),
    producers: meant.flatMap(({ producers }) => producers),
    watchers: meant.flatMap(({ watchers }) => watchers),
  };
}

const nameOf = (use: AssetUseSpec): string =>
  "asset" in use ? use.asset.name : "alias" in use ? use.alias.name : (use.ref.name ?? use.ref.uri ?? "");

/** `orders and (refunds or returns)` */
export function sayAssets(condition: AssetConditionSpec, isInner = false): string {
  const parts = "all" in condition ? condition.all : "any" in condition ? condition.any : undefined;
  if (parts === undefined) return nameOf(condition as AssetUseSpec); // neither all nor any: the one that is left
  const said = parts.map((part) => sayAssets(part, true)).join("all" in condition ? " and " : " or ");
  return isInner && parts.length > 1 ? `(${said})` : said;
}
