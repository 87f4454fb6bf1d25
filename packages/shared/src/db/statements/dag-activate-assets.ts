// Makes exactly those assets active that a dag which is not stale declares, or that an alias has stood for. Of two with one
// name, or one uri, the older stays. Gives back what changed. Locks: the rows that go and come, in the order of their names.
import { defineStatement } from "../statement.ts";

export const activateAssets = defineStatement<readonly [], { readonly name: string; readonly isActive: boolean }>({
  name: "dag-activate-assets",
  sql: `
with declared as materialized (
  select a.id, a.name, a.uri from asset a
  where exists (
    select from dag_schedule_asset_reference s join dag d using (dag_id) where s.asset_id = a.id and not d.is_stale
    union all
    select from task_outlet_asset_reference s join dag d using (dag_id) where s.asset_id = a.id and not d.is_stale
    union all
    select from task_inlet_asset_reference s join dag d using (dag_id) where s.asset_id = a.id and not d.is_stale
    union all
    select from asset_alias_asset l where l.asset_id = a.id
  )
), gone as (
  delete from asset_active t
  where not exists (select from declared c where c.name = t.name and c.uri = t.uri)
  returning t.name
), come as (
  insert into asset_active (name, uri)
  select c.name, c.uri from declared c
  where not exists (select from asset_active t where t.name = c.name or t.uri = c.uri)
  order by c.id
  on conflict do nothing
  returning name
)
select name, false as "isActive" from gone union all select name, true from come`,
});

/** Which declared assets of these dags are not active, because another one has their name or uri. */
export const readAssetConflicts = defineStatement<
  readonly [dagIds: readonly string[]],
  {
    readonly dagId: string;
    readonly name: string;
    readonly uri: string;
    readonly byName: string;
    readonly byUri: string;
  }
>({
  name: "dag-read-asset-conflicts",
  sql: `
select distinct u.dag_id as "dagId", a.name, a.uri, t.name as "byName", t.uri as "byUri"
from (
  select dag_id, asset_id from dag_schedule_asset_reference where dag_id = any ($1)
  union select dag_id, asset_id from task_outlet_asset_reference where dag_id = any ($1)
  union select dag_id, asset_id from task_inlet_asset_reference where dag_id = any ($1)
) u
join asset a on a.id = u.asset_id
join asset_active t on (t.name = a.name or t.uri = a.uri) and (t.name, t.uri) <> (a.name, a.uri)
order by 1, 2, 3`,
});

/** Of these assets, given as pairs, those that may not be used. A null stands for what a reference leaves open. */
export const readInactiveAssets = defineStatement<
  readonly [names: readonly (string | null)[], uris: readonly (string | null)[]],
  { readonly name: string | null; readonly uri: string | null }
>({
  name: "read-inactive-assets",
  sql: `
select g.name, g.uri from unnest($1::text[], $2::text[]) as g(name, uri)
where not exists (
  select from asset_active t where (g.name is null or t.name = g.name) and (g.uri is null or t.uri = g.uri)
)`,
});
