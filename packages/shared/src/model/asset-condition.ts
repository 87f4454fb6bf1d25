// Whether what a DAG waits for has come. Pure.
import type { AssetConditionSpec, AssetUseSpec } from "@millrace/sdk/spec";

/** An asset with an event that the DAG has not consumed. */
export interface PresentAsset {
  readonly name: string;
  readonly uri: string;
  /** The aliases that have stood for it. */
  readonly aliases: readonly string[];
}

export function isConditionMet(condition: AssetConditionSpec, present: readonly PresentAsset[]): boolean {
  // Like every other name of nothing, a condition without parts would be met for ever.
  if ("all" in condition)
    return condition.all.length > 0 && condition.all.every((part) => isConditionMet(part, present));
  if ("any" in condition) return condition.any.some((part) => isConditionMet(part, present));
  return present.some((asset) => isMeant(condition, asset));
}

/** Whether `use` stands for this asset. */
export function isMeant(use: AssetUseSpec, asset: PresentAsset): boolean {
  if ("asset" in use) return use.asset.name === asset.name && use.asset.uri === asset.uri;
  if ("alias" in use) return asset.aliases.includes(use.alias.name);
  return use.ref.uri === undefined ? use.ref.name === asset.name : use.ref.uri === asset.uri;
}

/** Every asset that a condition names, in its order. */
export function usesIn(condition: AssetConditionSpec): readonly AssetUseSpec[] {
  if ("all" in condition) return condition.all.flatMap(usesIn);
  if ("any" in condition) return condition.any.flatMap(usesIn);
  return [condition];
}
