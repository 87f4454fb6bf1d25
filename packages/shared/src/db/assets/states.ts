// What people and programs do with the values that are kept about an asset. Each change is one transaction with its line of
// the audit log.
import type { Json } from "@millrace/sdk/spec";
import { AppError } from "../../errors/index.ts";
import type { Database } from "../database.ts";
import { getAsset } from "../reads/assets.ts";
import { dropAssetState, putAssetState, readAssetStates, type AssetStateRow } from "../statements/asset-states.ts";
import { insertLog } from "../statements/insert-log.ts";
import { checkConf } from "../trigger-run.ts";

export interface AssetStateChange {
  readonly assetId: number;
  readonly key: string;
  readonly user: string;
}

/** In the order of their keys. @throws AppError ASSET_NOT_FOUND */
export async function listAssetStates(db: Database, assetId: number): Promise<AssetStateRow[]> {
  await getAsset(db, assetId);
  return await db.run(readAssetStates, [assetId, null]);
}

/** @throws AppError ASSET_NOT_FOUND or ASSET_STATE_NOT_FOUND */
export async function findAssetState(db: Database, assetId: number, key: string): Promise<AssetStateRow> {
  const { name } = await getAsset(db, assetId);
  const [row] = await db.run(readAssetStates, [assetId, key]);
  if (row === undefined) throw new AppError("ASSET_STATE_NOT_FOUND", { asset: name, key });
  return row;
}

/**
 * @param maxBytes core.max_xcom_bytes, as for handlers
 * @throws AppError ASSET_NOT_FOUND or ASSET_STATE_INVALID
 */
export async function changeAssetState(
  db: Database,
  { assetId, key, user, value, maxBytes }: AssetStateChange & { readonly value: Json; readonly maxBytes: number },
): Promise<AssetStateRow> {
  await getAsset(db, assetId);
  const json = checked(key, value, maxBytes);
  return await db.transaction(async (tx) => {
    await tx.run(insertLog, noted("put_asset_state", assetId, key, user));
    const [row] = await tx.run(putAssetState, [assetId, key, json]);
    if (row === undefined) throw new AppError("ASSET_NOT_FOUND", { asset: assetId });
    return row;
  });
}

/** @throws AppError ASSET_NOT_FOUND or ASSET_STATE_NOT_FOUND */
export async function removeAssetState(db: Database, { assetId, key, user }: AssetStateChange): Promise<void> {
  const { name } = await getAsset(db, assetId);
  await db.transaction(async (tx) => {
    await tx.run(insertLog, noted("delete_asset_state", assetId, key, user));
    const rows = await tx.run(dropAssetState, [assetId, key]);
    if (rows.length === 0) throw new AppError("ASSET_STATE_NOT_FOUND", { asset: name, key });
  });
}

const noted = (event: string, assetId: number, key: string, user: string) =>
  [[event], [null], [null], [null], [null], [null], [user], [JSON.stringify({ asset_id: assetId, key })]] as const;

function checked(key: string, value: Json, maxBytes: number): string {
  try {
    checkConf({ [key]: value });
  } catch (error) {
    if (!(error instanceof AppError)) throw error;
    throw new AppError("ASSET_STATE_INVALID", { key, cause: "it is nothing that Postgres can store" });
  }
  const json = JSON.stringify(value);
  const bytes = Buffer.byteLength(json);
  if (bytes > maxBytes) {
    const cause = `it has ${bytes} bytes of JSON, and core.max_xcom_bytes allows ${maxBytes}`;
    throw new AppError("ASSET_STATE_INVALID", { key, cause });
  }
  return json;
}
