// What DAGs wait with: events of assets that they have not consumed. Looked at without locks first; a DAG whose condition
// is met is then locked, and its rows after it, and judged again. Whoever has the lock of the dag consumes.
import { defineStatement } from "../statement.ts";

export interface QueuedAsset {
  readonly dagId: string;
  readonly assetId: number;
  readonly name: string;
  readonly uri: string;
  readonly aliases: readonly string[];
  /** The newest version of the DAG. */
  readonly versionId: string;
  /** Of the first event that waits. */
  readonly createdAt: Date;
}

const COLUMNS = `q.target_dag_id as "dagId", q.asset_id as "assetId", a.name, a.uri, q.created_at as "createdAt",
  array(select al.name from asset_alias_asset l join asset_alias al on al.id = l.alias_id where l.asset_id = a.id) as aliases,
  (select v.id from dag_version v where v.dag_id = q.target_dag_id order by v.version_number desc limit 1) as "versionId"`;

/** Of every DAG that may get runs. No locks. */
export const readAssetQueue = defineStatement<readonly [], QueuedAsset>({
  name: "read-asset-queue",
  sql: `
select ${COLUMNS}
from asset_dag_run_queue q
join asset a on a.id = q.asset_id
join dag d on d.dag_id = q.target_dag_id
where not d.is_paused and not d.is_stale and not d.has_import_errors`,
});

export interface AssetDag {
  readonly dagId: string;
  readonly versionId: string;
  readonly now: Date;
}

/**
 * Of these DAGs as many as `limit`, those first that have room for one more active run: full ones must not keep others out.
 * One that another scheduler has is being looked after. Locks: dag rows, none of which is waited for.
 */
export const lockAssetDags = defineStatement<
  readonly [dagIds: readonly string[], limit: number],
  AssetDag & { readonly room: number }
>({
  name: "lock-asset-dags",
  sql: `
select d.dag_id as "dagId", v.id as "versionId", d.max_active_runs - a.active as room, now() as now
from dag d
cross join lateral (
  select count(*)::int as active from dag_run r
  where r.dag_id = d.dag_id and r.state in ('queued', 'running') and r.run_type <> 'backfill'
) a
cross join lateral (
  select id from dag_version v where v.dag_id = d.dag_id order by v.version_number desc limit 1
) v
where d.dag_id = any ($1) and not d.is_paused and not d.is_stale and not d.has_import_errors
order by a.active >= d.max_active_runs, d.dag_id
limit $2
for no key update of d skip locked`,
});

/** The rows of DAGs that the caller has locked. Waits for the transactions that are adding events to them. */
export const lockAssetQueue = defineStatement<readonly [dagIds: readonly string[]], QueuedAsset>({
  name: "lock-asset-queue",
  sql: `
select ${COLUMNS}
from asset_dag_run_queue q
join asset a on a.id = q.asset_id
where q.target_dag_id = any ($1)
order by q.asset_id, q.target_dag_id
for update of q`,
});
