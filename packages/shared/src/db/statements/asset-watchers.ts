// Watchers of assets: triggers without a task, each of whose events is an event of the asset. They are there as long as a
// DAG that is neither paused nor stale is scheduled on the asset. Locks: an advisory lock, so that two triggerers do not
// both add one; then the rows.
import type { WaitingAttempt } from "./waiting-attempts.ts";
import { defineStatement } from "../statement.ts";

/** DAGs whose schedules may have watchers, and whether there are any watchers now. */
export const readWatchingDags = defineStatement<
  readonly [],
  {
    readonly dagId: string | null;
    readonly versionId: string | null;
    readonly since: string | null;
    readonly isWatched: boolean;
  }
>({
  name: "read-watching-dags",
  sql: `
select d.dag_id as "dagId", v.id as "versionId", v.created_at::text as since, w.any as "isWatched"
from (select exists (select from asset_watcher) as any) w
left join (
  dag d cross join lateral (
    select id, created_at from dag_version v where v.dag_id = d.dag_id order by v.version_number desc limit 1
  ) v
) on not d.is_paused and not d.is_stale and exists (select from dag_schedule_asset_reference s where s.dag_id = d.dag_id)`,
});

export const lockWatchers = defineStatement<readonly [], never>({
  name: "lock-asset-watchers",
  sql: `select pg_advisory_xact_lock(hashtext('millrace.asset_watchers'))`,
});

export interface WatcherRow {
  readonly assetName: string;
  readonly name: string;
  readonly dagId: string;
  readonly kwargs: string;
}

export const readWatchers = defineStatement<readonly [], WatcherRow>({
  name: "read-asset-watchers",
  sql: `
select a.name as "assetName", w.name, w.dag_id as "dagId", t.kwargs
from asset_watcher w join asset a on a.id = w.asset_id join trigger t on t.id = w.trigger_id`,
});

/** A JSON array of `name`, `uri`, `watcher`, `classpath`, `kwargs`, `queue`, `dag` and `since`, when its code became what it is. */
const WANTED = `wanted as materialized (
  select distinct on (a.id, g.watcher) a.id as asset_id, g.*
  from jsonb_to_recordset($1::jsonb) as g(name text, uri text, watcher text, classpath text, kwargs text, queue text, dag text, since timestamptz)
  join asset_active t on t.name = g.name and t.uri = g.uri
  join asset a on a.name = g.name and a.uri = g.uri
  order by a.id, g.watcher, g.dag
)`;

export const dropWatchers = defineStatement<readonly [wanted: string], { readonly id: number }>({
  name: "drop-asset-watchers",
  sql: `
with ${WANTED}
delete from trigger t using asset_watcher w
where w.trigger_id = t.id and not exists (
  select from wanted x where x.asset_id = w.asset_id and x.watcher = w.name and x.classpath = t.classpath and x.kwargs = t.kwargs
    and x.queue is not distinct from t.queue and x.dag = w.dag_id
    and (t.classpath like 'millrace.%' or t.created_date >= x.since)
)
returning t.id`,
});

export const addWatchers = defineStatement<readonly [wanted: string], { readonly id: number }>({
  name: "add-asset-watchers",
  sql: `
with ${WANTED}, fresh as materialized (
  select x.*, nextval(pg_get_serial_sequence('trigger', 'id'))::int as id from wanted x
  where not exists (select from asset_watcher w where w.asset_id = x.asset_id and w.name = x.watcher)
), made as (
  insert into trigger (id, classpath, kwargs, queue) select id, classpath, kwargs, queue from fresh
)
insert into asset_watcher (asset_id, name, trigger_id, dag_id) select asset_id, watcher, id, dag from fresh
returning trigger_id as id`,
});

export interface FiredWatcher {
  readonly triggerId: number;
  readonly assetId: number;
  readonly name: string;
  readonly dagId: string;
  /** Seconds since it was armed. */
  readonly age: number;
}

/** Of these triggers those that are watchers and this triggerer's. Locks: the triggers, so that none fires twice at once. */
export const lockFiredWatchers = defineStatement<
  readonly [triggererJobId: number, triggerIds: readonly number[]],
  FiredWatcher
>({
  name: "lock-fired-watchers",
  sql: `
select t.id as "triggerId", w.asset_id as "assetId", w.name, w.dag_id as "dagId",
  extract(epoch from clock_timestamp() - t.created_date)::float8 as age
from trigger t join asset_watcher w on w.trigger_id = t.id
where t.id = any ($2::int[]) and t.triggerer_id = $1
order by t.id
for no key update of t`,
});

/** To be taken and run again from its beginning, by whoever is first. */
export const rearmWatchers = defineStatement<
  readonly [triggererJobId: number, triggerIds: readonly number[]],
  { readonly id: number }
>({
  name: "rearm-asset-watchers",
  sql: `
update trigger set triggerer_id = null, created_date = now() where id = any ($2::int[]) and triggerer_id = $1
returning id`,
});

/** As a task instance's attempt would be: what running the trigger needs. Ids that a watcher has not are empty. */
export const watchingAttempts = defineStatement<readonly [triggerIds: readonly number[]], WaitingAttempt>({
  name: "watching-attempts",
  sql: `
select w.trigger_id as "triggerId", '' as id, 0 as epoch, null as "nextMethod", 0 as "dagRunId", w.dag_id as "dagId", '' as "runId",
  '' as "taskId", -1 as "mapIndex", 1 as "tryNumber", 0 as "maxTries", null as "logicalDate", now() as "runAfter",
  v.id as "versionId", v.artifact_hash as "artifactHash", 'asset_triggered' as "runType", '{}'::jsonb as conf,
  null as "dataIntervalStart", null as "dataIntervalEnd"
from asset_watcher w
cross join lateral (
  select id, artifact_hash from dag_version v where v.dag_id = w.dag_id order by v.version_number desc limit 1
) v
where w.trigger_id = any ($1::int[])`,
});
