import { date, name, seconds, type Check } from "../reading/checks.ts";
import type { Json } from "../spec/index.ts";
import { builtIn } from "./built-in.ts";
import type { Trigger } from "./trigger.ts";

/** Which asset to wait for: by name, by uri, or by both. */
export interface AssetEventOptions {
  readonly name?: string;
  readonly uri?: string;
  /** Only events later than this count. @default any that comes after the task began to wait */
  readonly after?: Date;
  /** Seconds between two looks; many waits share one. @default 5 */
  readonly pollSeconds?: number;
}

/** The events that have come, oldest first. */
export interface AssetEventEvent {
  readonly events: readonly Json[];
}

export const ASSET_CHECKS: Readonly<Record<keyof AssetEventOptions, Check>> = {
  name: name(1500),
  uri: name(1500),
  after: date,
  pollSeconds: seconds("positive"),
};

/** Fires when an asset has a new event. */
export function assetEvent(options: AssetEventOptions): Trigger<AssetEventEvent> {
  const { name: asset, uri, after, pollSeconds = 5 } = options;
  return builtIn(
    "asset_event",
    options,
    ASSET_CHECKS,
    () => ({ name: asset, uri, after: after?.toISOString(), pollSeconds }),
    () => (asset === undefined && uri === undefined ? ["give a name, a uri, or both"] : []),
  );
}
