// The assets that a DAG waits for, each with what waits of it, its last event and who updates it; of an alias those that it
// has stood for, at most twenty. Parallel arrays: a name, a uri or both, or an alias.
// Indexes: idx_asset_event_asset_id_timestamp, the keys of the references.
import { defineStatement } from "../statement.ts";

export interface ExplainedAsset {
  readonly name: string;
  readonly uri: string;
  readonly aliases: readonly string[];
  readonly isActive: boolean;
  readonly since: Date | null;
  readonly lastEvent: {
    readonly at: string;
    readonly partitionKey: string | null;
    readonly runId: string | null;
  } | null;
  readonly producers: readonly { readonly dagId: string; readonly taskId: string; readonly isPaused: boolean }[];
  readonly watchers: readonly string[];
}

type Texts = readonly (string | null)[];

export const explainAssets = defineStatement<
  readonly [dagId: string, names: Texts, uris: Texts, aliases: Texts],
  ExplainedAsset
>({
  name: "explain-assets",
  sql: `
with wanted as (
  select distinct a.id
  from unnest($2::text[], $3::text[], $4::text[]) as u(name, uri, alias)
  cross join lateral (
    select a.id from asset a
    where u.alias is null and (u.name is null or a.name = u.name) and (u.uri is null or a.uri = u.uri)
    union all
    (select l.asset_id from asset_alias al join asset_alias_asset l on l.alias_id = al.id
      left join asset_dag_run_queue q on q.asset_id = l.asset_id and q.target_dag_id = $1
      where al.name = u.alias order by q.created_at, l.asset_id desc limit 20)
  ) a
)
select a.name, a.uri, q.created_at as since,
  array(select al.name from asset_alias_asset l join asset_alias al on al.id = l.alias_id where l.asset_id = a.id) as aliases,
  exists (select from asset_active t where t.name = a.name and t.uri = a.uri) as "isActive",
  (select jsonb_build_object('at', e.timestamp, 'partitionKey', e.partition_key, 'runId',
      (select r.run_id from dagrun_asset_event t join dag_run r on r.id = t.dag_run_id
        where t.event_id = e.id and r.dag_id = $1 limit 1))
    from asset_event e where e.asset_id = a.id order by e.timestamp desc, e.id desc limit 1) as "lastEvent",
  coalesce((select jsonb_agg(jsonb_build_object('dagId', o.dag_id, 'taskId', o.task_id, 'isPaused', d.is_paused)
      order by o.dag_id, o.task_id)
    from task_outlet_asset_reference o join dag d using (dag_id) where o.asset_id = a.id and not d.is_stale), '[]') as producers,
  array(select w.name from asset_watcher w where w.asset_id = a.id order by w.name) as watchers
from wanted w
join asset a on a.id = w.id
left join asset_dag_run_queue q on q.asset_id = a.id and q.target_dag_id = $1
order by a.id`,
});
