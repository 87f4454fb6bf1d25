// What is kept about an asset from run to run: `assetStateStore` of handlers, over HTTP. Values are JSON as they are stored.
import { changeAssetState, findAssetState, listAssetStates, removeAssetState } from "@millrace/shared/db";
import type { Json } from "@millrace/sdk/spec";
import { Type } from "typebox";
import { userName } from "../auth/guard.ts";
import type { App, Context } from "../http/app.ts";
import { AssetPath, AssetState, AssetStateBody, AssetStateCollection, AssetStatePath } from "../schemas/assets.ts";

const BASE = "/api/v2/assets/:asset_id/states";

export function assetStateRoutes(app: App, { db, config, known }: Context): void {
  const present = async ({ key, value, updatedAt }: { key: string; value: Json; updatedAt: Date }) => ({
    key,
    value: (await known.redactor()).redactValue(value, key),
    updated_at: updatedAt.toISOString(),
  });

  app.get(BASE, { schema: { params: AssetPath, response: { 200: AssetStateCollection } } }, async ({ params }) => {
    const rows = await listAssetStates(db, params.asset_id);
    return { asset_states: await Promise.all(rows.map(present)), total_entries: rows.length };
  });

  app.get(
    `${BASE}/:key`,
    { schema: { params: AssetStatePath, response: { 200: AssetState } } },
    async ({ params }) => await present(await findAssetState(db, params.asset_id, params.key)),
  );

  app.put(
    `${BASE}/:key`,
    { schema: { params: AssetStatePath, body: AssetStateBody, response: { 200: AssetState } } },
    async (request) => {
      const { asset_id: assetId, key } = request.params;
      const value = request.body.value as Json; // it came as JSON
      const maxBytes = config.core.max_xcom_bytes;
      return await present(await changeAssetState(db, { assetId, key, value, maxBytes, user: userName(request) }));
    },
  );

  app.delete(
    `${BASE}/:key`,
    { schema: { params: AssetStatePath, response: { 204: Type.Null() } } },
    async (request, reply) => {
      const { asset_id: assetId, key } = request.params;
      await removeAssetState(db, { assetId, key, user: userName(request) });
      return await reply.code(204).send(null);
    },
  );
}
