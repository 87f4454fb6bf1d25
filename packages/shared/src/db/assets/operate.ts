// What people and programs do with assets, each in one transaction with its line of the audit log. The caller wakes the
// schedulers afterwards.
import { AppError } from "../../errors/index.ts";
import type { Json } from "@millrace/sdk/spec";
import type { DagVersions } from "../dag-versions.ts";
import type { Database } from "../database.ts";
import type { NewRun } from "../create-runs.ts";
import { getAsset } from "../reads/assets.ts";
import { insertLog } from "../statements/insert-log.ts";
import { dropQueuedEvents, producersOf } from "../statements/queued-events.ts";
import { checkConf, triggerRun, type TriggeredRun } from "../trigger-run.ts";
import { writeAssetEvents } from "./write-asset-events.ts";

export interface AssetEventRequest {
  readonly assetId: number;
  readonly extra?: unknown;
  readonly partitionKey?: string | undefined;
  readonly user: string;
}

/** An event from outside; gives back its id. @throws AppError ASSET_NOT_FOUND or ASSET_EVENT_INVALID. */
export async function createAssetEvent(db: Database, request: AssetEventRequest): Promise<number> {
  const { assetId, partitionKey, user } = request;
  await getAsset(db, assetId);
  const extra = checkExtra(request.extra);
  if (partitionKey !== undefined && (partitionKey.trim() === "" || partitionKey.length > 250)) {
    throw new AppError("ASSET_EVENT_INVALID", { cause: "a partition key has 1 to 250 characters" });
  }
  return await db.transaction(
    async (tx) => {
      await tx.run(insertLog, [
        ["create_asset_event"],
        [null],
        [null],
        [null],
        [null],
        [null],
        [user],
        [JSON.stringify({ asset_id: assetId })],
      ]);
      const event = { assetId, extra, ...(partitionKey === undefined ? {} : { partitionKey }) };
      const [written] = await writeAssetEvents(tx, [event]);
      if (written === undefined) throw new AppError("ASSET_NOT_FOUND", { asset: assetId });
      return written.id;
    },
    { actor: user },
  );
}

function checkExtra(extra: unknown): Readonly<Record<string, Json>> {
  try {
    return checkConf(extra) as Readonly<Record<string, Json>>; // it came as JSON
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError("ASSET_EVENT_INVALID", { cause: "its extra is no object that Postgres can store" });
  }
}

export interface MaterializeRequest {
  readonly assetId: number;
  readonly runId?: string | undefined;
  readonly conf?: unknown;
  readonly logicalDate?: Date | null | undefined;
  readonly runAfter?: Date | undefined;
  readonly note?: string | undefined;
  readonly partitionKey?: string | undefined;
  readonly triggeredBy: NewRun["triggeredBy"];
  readonly user: string;
}

/**
 * Starts a run of the DAG that updates the asset.
 * @throws AppError ASSET_NOT_FOUND, ASSET_NOT_PRODUCED, ASSET_PRODUCED_TWICE, and what a trigger by hand throws.
 */
export async function materializeAsset(
  db: Database,
  versions: DagVersions,
  { assetId, ...request }: MaterializeRequest,
): Promise<TriggeredRun> {
  const asset = await getAsset(db, assetId);
  const producers = await db.run(producersOf, [assetId]);
  const [producer, other] = producers;
  if (producer === undefined) throw new AppError("ASSET_NOT_PRODUCED", { asset: asset.name });
  if (other !== undefined) {
    throw new AppError("ASSET_PRODUCED_TWICE", {
      asset: asset.name,
      dags: producers.map((dag) => dag.dagId).join(", "),
    });
  }
  return await triggerRun(db, versions, { ...request, dagId: producer.dagId, runType: "asset_materialization" });
}

export interface QueuedFilter {
  readonly assetId?: number | undefined;
  readonly dagId?: string | undefined;
  readonly before?: Date | undefined;
}

/** Drops what waits; gives back how much. */
export async function deleteQueuedEvents(db: Database, filter: QueuedFilter, user: string): Promise<number> {
  const { assetId = null, dagId = null, before = null } = filter;
  return await db.transaction(
    async (tx) => {
      const dropped = await tx.run(dropQueuedEvents, [assetId, dagId, before]);
      if (dropped.length === 0) return 0;
      const extra = JSON.stringify({ asset_id: assetId, dropped: dropped.length });
      await tx.run(insertLog, [
        ["delete_queued_asset_events"],
        [dagId],
        [null],
        [null],
        [null],
        [null],
        [user],
        [extra],
      ]);
      return dropped.length;
    },
    { actor: user },
  );
}
