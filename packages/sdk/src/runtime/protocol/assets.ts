// Events of assets, and the questions that handlers ask about them.
import type { AssetSpec, Json } from "../../spec/index.ts";

/** An event of an asset that a task updated. */
export interface OutletEvent {
  /** The asset, or a reference to one; with `alias`, always the asset. */
  readonly asset: AssetSpec | { readonly name?: string; readonly uri?: string };
  readonly alias?: string;
  readonly extra: Readonly<Record<string, Json>>;
  readonly partitionKey?: string;
}

/** An event of an asset, as handlers see it. */
export interface AssetEventData {
  readonly id: number;
  readonly name: string;
  readonly uri: string;
  readonly group: string;
  /** ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly extra: Readonly<Record<string, Json>>;
  readonly sourceDagId: string | null;
  readonly sourceTaskId: string | null;
  readonly sourceRunId: string | null;
  readonly sourceMapIndex: number;
  readonly partitionKey: string | null;
  /** Through which it came. */
  readonly aliases: readonly string[];
}

/** Which asset: a name or a uri of an active one, both for exactly one, or an alias. */
export interface AssetQuery {
  readonly name?: string;
  readonly uri?: string;
  readonly alias?: string;
}

export interface AssetEventsQuery extends AssetQuery {
  /** ISO 8601; events at or after, and at or before. */
  readonly after?: string;
  readonly before?: string;
  readonly limit?: number;
  /** Oldest first. Default true. */
  readonly ascending?: boolean;
}
