// The one way in which events of assets come to be: with the success of a task, through the API, from a watcher. To be
// called in the transaction of what caused them; the caller wakes the schedulers after the commit when somebody waits.
import type { AssetSpec, Json } from "@millrace/sdk/spec";
import type { Queryable } from "../database.ts";
import { insertAssetEvents, type InsertedAssetEvent } from "../statements/insert-asset-events.ts";
import { putAliasAssets } from "../statements/put-alias-assets.ts";

export interface NewAssetEvent {
  /** Which asset: `assetId`, or `name` and `uri`, or one of the two for the active asset that has it. */
  readonly assetId?: number;
  readonly name?: string;
  readonly uri?: string;
  /** The alias through which it came. The asset need not exist then. */
  readonly alias?: string;
  readonly asset?: AssetSpec;
  readonly extra?: Readonly<Record<string, Json>>;
  /** The run's partition key is that of its events, unless they have their own. */
  readonly dagRunId?: number;
  readonly dagId?: string;
  readonly taskId?: string;
  readonly runId?: string;
  readonly mapIndex?: number;
  readonly partitionKey?: string;
}

/** An event of an asset that does not exist is not written, and not among those given back. */
export async function writeAssetEvents(tx: Queryable, events: readonly NewAssetEvent[]): Promise<InsertedAssetEvent[]> {
  const aliased = events.flatMap(({ asset, alias }) =>
    asset === undefined || alias === undefined ? [] : [{ ...withDefaults(asset), alias }],
  );
  if (aliased.length > 0) await tx.run(putAliasAssets, [JSON.stringify(aliased)]);
  return await tx.run(insertAssetEvents, [JSON.stringify(events.map(({ asset: _asset, ...event }) => event))]);
}

const withDefaults = ({ name, uri, group = "asset", extra = {} }: AssetSpec) => ({ name, uri, group, extra });
