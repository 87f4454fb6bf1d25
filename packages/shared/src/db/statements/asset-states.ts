// What is kept about an asset, by tasks and over HTTP. Locks: the row of the key.
import type { Json } from "@millrace/sdk/spec";
import { defineStatement } from "../statement.ts";

/** The asset that a name, a uri or both mean: of several the active one. */
const WHICH = `select a.id from asset a left join asset_active t on t.name = a.name and t.uri = a.uri
  where ($1::text is null or a.name = $1) and ($2::text is null or a.uri = $2)
  order by t.name is null, a.id limit 1`;

type Which = readonly [name: string | null, uri: string | null];

/** No row: there is no such asset. `value` null: it has no such key; a JSON null is kept as one. */
export const readAssetState = defineStatement<
  readonly [...Which, key: string],
  { readonly isSet: boolean; readonly value: Json }
>({
  name: "read-asset-state",
  sql: `
select s.key is not null as "isSet", s.value from (${WHICH}) a left join asset_state s on s.asset_id = a.id and s.key = $3`,
});

export const writeAssetState = defineStatement<
  readonly [...Which, key: string, value: string],
  { readonly assetId: number }
>({
  name: "write-asset-state",
  sql: `
insert into asset_state (asset_id, key, value) select a.id, $3, $4::jsonb from (${WHICH}) a
on conflict (asset_id, key) do update set value = excluded.value, updated_at = now()
returning asset_id as "assetId"`,
});

export const deleteAssetState = defineStatement<readonly [...Which, key: string], never>({
  name: "delete-asset-state",
  sql: `delete from asset_state where asset_id = (${WHICH}) and key = $3`,
});

export interface AssetStateRow {
  readonly key: string;
  readonly value: Json;
  readonly updatedAt: Date;
}

/** @param key null: every key, in their order */
export const readAssetStates = defineStatement<readonly [assetId: number, key: string | null], AssetStateRow>({
  name: "read-asset-states",
  sql: `
select key, value, updated_at as "updatedAt" from asset_state
where asset_id = $1 and ($2::text is null or key = $2) order by key collate "C"`,
});

export const putAssetState = defineStatement<readonly [assetId: number, key: string, value: string], AssetStateRow>({
  name: "put-asset-state",
  sql: `
insert into asset_state (asset_id, key, value) values ($1, $2, $3::jsonb)
on conflict (asset_id, key) do update set value = excluded.value, updated_at = now()
returning key, value, updated_at as "updatedAt"`,
});

export const dropAssetState = defineStatement<readonly [assetId: number, key: string], { readonly key: string }>({
  name: "drop-asset-state",
  sql: `delete from asset_state where asset_id = $1 and key = $2 returning key`,
});
