// Assets that a handler named for an alias: they and the alias come to be, and one that no other asset stands in the way of
// is active. A JSON array of `name`, `uri`, `group`, `extra` and `alias`. Locks: the new rows, in the order of their names.
import { defineStatement } from "../statement.ts";

export const putAliasAssets = defineStatement<readonly [assets: string], never>({
  name: "put-alias-assets",
  sql: `
with given as materialized (
  select distinct on (name, uri, alias) * from jsonb_to_recordset($1::jsonb) as g(name text, uri text, "group" text, extra jsonb, alias text)
  order by name, uri, alias
), new_assets as (
  insert into asset (name, uri, "group", extra)
  select distinct on (name, uri) name, uri, "group", extra from given order by name, uri
  on conflict (name, uri) do update set updated_at = asset.updated_at
  returning id, name, uri
), active as (
  insert into asset_active (name, uri) select name, uri from new_assets order by name, uri on conflict do nothing
), aliases as (
  insert into asset_alias (name) select distinct alias from given order by alias
  on conflict (name) do update set name = excluded.name
  returning id, name
)
insert into asset_alias_asset (alias_id, asset_id)
select al.id, a.id from given g join new_assets a on a.name = g.name and a.uri = g.uri join aliases al on al.name = g.alias
on conflict do nothing`,
});
