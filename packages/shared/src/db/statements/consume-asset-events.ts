// Ties runs to the events that they are made of, and takes the queue rows away, in the transaction that creates the runs.
// A run gets every event of a row's asset that no run of its DAG has: from the first that the row stands for, and those
// that came since the last such run while the DAG was paused and queued nothing. Parallel arrays, one entry a row: only
// rows that the caller has locked, since any other may stand for events that this statement does not see.
// Indexes: idx_asset_event_asset_id_id, idx_asset_event_asset_id_timestamp, idx_dag_run_asset_triggered.
import { defineStatement } from "../statement.ts";

export const consumeAssetEvents = defineStatement<
  readonly [dagRunIds: readonly number[], dagIds: readonly string[], assetIds: readonly number[]],
  { readonly dagRunId: number; readonly eventId: number }
>({
  name: "consume-asset-events",
  sql: `
with gone as (
  delete from asset_dag_run_queue q using unnest($1::bigint[], $2::text[], $3::int[]) as r(dag_run_id, dag_id, asset_id)
  where q.target_dag_id = r.dag_id and q.asset_id = r.asset_id
  returning q.asset_id, q.target_dag_id, q.first_event_id, q.created_at, r.dag_run_id
)
insert into dagrun_asset_event (dag_run_id, event_id)
select distinct g.dag_run_id, e.id
from gone g
left join lateral (
  select run_after from dag_run r
  where r.dag_id = g.target_dag_id and r.run_type = 'asset_triggered' and r.id <> g.dag_run_id
  order by r.run_after desc limit 1
) last on true
cross join lateral (
  select id, partition_key from asset_event where asset_id = g.asset_id and id >= g.first_event_id
  union
  select id, partition_key from asset_event
  where asset_id = g.asset_id and timestamp > coalesce(last.run_after, g.created_at - interval '1 ms')
) e
where e.partition_key is null
  and not exists (
    select from dagrun_asset_event t join dag_run r on r.id = t.dag_run_id
    where t.event_id = e.id and r.dag_id = g.target_dag_id
  )
  and (
    exists (select from dag_schedule_asset_reference s where s.asset_id = g.asset_id and s.dag_id = g.target_dag_id)
    or exists (
      select from asset a join dag_schedule_asset_name_reference s on s.name = a.name
      where a.id = g.asset_id and s.dag_id = g.target_dag_id
    )
    or exists (
      select from asset a join dag_schedule_asset_uri_reference s on s.uri = a.uri
      where a.id = g.asset_id and s.dag_id = g.target_dag_id
    )
    or exists (
      select from asset_alias_asset_event l join dag_schedule_asset_alias_reference s on s.alias_id = l.alias_id
      where l.event_id = e.id and s.dag_id = g.target_dag_id
    )
  )
returning dag_run_id as "dagRunId", event_id as "eventId"`,
});
