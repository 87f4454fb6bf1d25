// Events of assets, and with them what waits for them: a queue row for each DAG that is scheduled on the asset, on an alias
// through which the event came, or on a name or uri that means the asset, and is neither paused nor stale. An event with a
// partition key goes to DAGs that run by key, and to those only.
// A JSON array; an asset is named by `assetId`, by `name` and `uri`, or, of those active, by one of the two.
// RACE: a queue row that is there is touched, not left alone. Its lock makes this wait for a scheduler that is consuming
// the row, after which a new one is written; and a scheduler that comes later waits for this commit, and sees the event.
// Locks: queue rows, in the order of asset and DAG.
import { defineStatement } from "../statement.ts";

export interface InsertedAssetEvent {
  readonly id: number;
  /** The place in the array. */
  readonly place: number;
  readonly assetId: number;
  /** DAGs that wait for it. */
  readonly consumers: number;
}

export const insertAssetEvents = defineStatement<readonly [events: string], InsertedAssetEvent>({
  name: "insert-asset-events",
  sql: `
with given as materialized (
  select (x.place - 1)::int as place, g.*
  from jsonb_array_elements($1::jsonb) with ordinality as x(event, place)
  cross join lateral jsonb_to_record(x.event) as g("assetId" int, name text, uri text, alias text, extra jsonb, "dagRunId" bigint,
    "dagId" text, "taskId" text, "runId" text, "mapIndex" int, "partitionKey" text)
), resolved as materialized (
  select g.*, a.id as asset_id, a.name as asset_name, a.uri as asset_uri, coalesce(g."partitionKey", r.partition_key) as key,
    nextval(pg_get_serial_sequence('asset_event', 'id')) as event_id
  from given g
  cross join lateral (
    select a.id, a.name, a.uri from asset a where a.id = g."assetId"
    union all
    select a.id, a.name, a.uri from asset a where g."assetId" is null and a.name = g.name and a.uri = g.uri
    union all
    select a.id, a.name, a.uri from asset_active t join asset a on a.name = t.name and a.uri = t.uri
    where g."assetId" is null and g.uri is null and t.name = g.name
    union all
    select a.id, a.name, a.uri from asset_active t join asset a on a.name = t.name and a.uri = t.uri
    where g."assetId" is null and g.name is null and t.uri = g.uri
  ) a
  left join dag_run r on r.id = g."dagRunId"
), written as (
  insert into asset_event (id, asset_id, extra, source_dag_id, source_task_id, source_run_id, source_map_index, partition_key)
  select event_id, asset_id, coalesce(extra, '{}'), "dagId", "taskId", "runId", coalesce("mapIndex", -1), key from resolved
), aliased as (
  insert into asset_alias_asset_event (alias_id, event_id)
  select al.id, r.event_id from resolved r join asset_alias al on al.name = r.alias
), consumers as materialized (
  select r.event_id, r.asset_id, r.key, d.dag_id
  from resolved r
  cross join lateral (
    select s.dag_id from dag_schedule_asset_reference s where s.asset_id = r.asset_id
    union
    select s.dag_id from asset_alias al join dag_schedule_asset_alias_reference s on s.alias_id = al.id where al.name = r.alias
    union
    select s.dag_id from dag_schedule_asset_name_reference s where s.name = r.asset_name
    union
    select s.dag_id from dag_schedule_asset_uri_reference s where s.uri = r.asset_uri
  ) c
  join dag d on d.dag_id = c.dag_id
  where not d.is_paused and not d.is_stale and d.timetable_partitioned = (r.key is not null)
), queued as (
  insert into asset_dag_run_queue as q (asset_id, target_dag_id, first_event_id)
  select asset_id, dag_id, min(event_id) from consumers where key is null group by asset_id, dag_id order by asset_id, dag_id
  on conflict (asset_id, target_dag_id) do update
    set first_event_id = least(q.first_event_id, excluded.first_event_id)
), logged as (
  insert into partitioned_asset_key_log (asset_id, asset_event_id, target_dag_id, source_partition_key)
  select asset_id, event_id, dag_id, key from consumers where key is not null order by event_id, dag_id
)
select r.event_id as id, r.place, r.asset_id as "assetId",
  (select count(*)::int from consumers c where c.event_id = r.event_id) as consumers
from resolved r order by r.place`,
});
