// Writes the assets and aliases that dags declare. JSON arrays: assets with `name`, `uri`, `group`, `extra`; aliases with
// `name`, `group`. What is there already and the same is not written. Locks: the rows, in the order of their names.
import { defineStatement } from "../statement.ts";

export const putAssets = defineStatement<readonly [assets: string, aliases: string], never>({
  name: "dag-put-assets",
  sql: `
with assets as (
  insert into asset as a (name, uri, "group", extra)
  select distinct on (name, uri) name, uri, "group", extra
  from jsonb_to_recordset($1::jsonb) as g(name text, uri text, "group" text, extra jsonb)
  order by name, uri
  on conflict (name, uri) do update set "group" = excluded."group", extra = excluded.extra, updated_at = now()
  where a."group" <> excluded."group" or a.extra::jsonb <> excluded.extra::jsonb
)
insert into asset_alias as a (name, "group")
select distinct on (name) name, "group" from jsonb_to_recordset($2::jsonb) as g(name text, "group" text) order by name
on conflict (name) do update set "group" = excluded."group" where a."group" <> excluded."group"`,
});
