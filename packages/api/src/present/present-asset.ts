import type { AssetEventItem, AssetRow, QueuedEvent as QueuedEventRow } from "@millrace/shared/db";
import type { Static } from "typebox";
import type { Asset, AssetEvent, QueuedEvent } from "../schemas/assets.ts";
import { instant } from "./present-dag.ts";

export const presentAsset = (asset: AssetRow): Static<typeof Asset> => ({
  id: asset.id,
  name: asset.name,
  uri: asset.uri,
  group: asset.group,
  extra: asset.extra,
  created_at: asset.createdAt.toISOString(),
  updated_at: asset.updatedAt.toISOString(),
  scheduled_dags: [...asset.scheduledDags],
  producing_tasks: [...asset.producingTasks],
  consuming_tasks: [...asset.consumingTasks],
  aliases: [...asset.aliases],
  watchers: [...asset.watchers],
  last_asset_event:
    asset.lastEventId === null ? null : { id: asset.lastEventId, timestamp: instant(asset.lastEventTimestamp) },
});

export const presentAssetEvent = (event: AssetEventItem): Static<typeof AssetEvent> => ({
  id: event.id,
  asset_id: event.assetId,
  uri: event.uri,
  name: event.name,
  group: event.group,
  extra: event.extra,
  source_task_id: event.sourceTaskId,
  source_dag_id: event.sourceDagId,
  source_run_id: event.sourceRunId,
  source_map_index: event.sourceMapIndex,
  created_dagruns: [...event.createdDagruns],
  timestamp: event.timestamp.toISOString(),
  partition_key: event.partitionKey,
});

export const presentQueuedEvent = (queued: QueuedEventRow): Static<typeof QueuedEvent> => ({
  dag_id: queued.dagId,
  asset_id: queued.assetId,
  created_at: queued.createdAt.toISOString(),
  dag_display_name: queued.dagDisplayName,
});
