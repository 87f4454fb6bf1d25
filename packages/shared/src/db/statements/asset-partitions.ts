// Runs by key: which keys came, from which assets. The caller has the locks of the dags, which keep two schedulers from
// making two runs of one key; the unique key of asset_partition_dag_run, nulls included, would refuse the second.
import { defineStatement } from "../statement.ts";
import type { QueuedAsset } from "./asset-queue.ts";

export interface PartitionDag {
  readonly dagId: string;
  /** The newest version of the DAG. */
  readonly versionId: string;
  /** Some of its keys are not mapped yet. */
  readonly isOpen: boolean;
}

/** DAGs with keys that are not mapped yet, or that wait. No locks. */
export const readPartitionDags = defineStatement<readonly [], PartitionDag>({
  name: "read-partition-dags",
  sql: `
select d.dag_id as "dagId", bool_or(w.is_open) as "isOpen",
  (select v.id from dag_version v where v.dag_id = d.dag_id order by v.version_number desc limit 1) as "versionId"
from (
  select distinct target_dag_id as dag_id, true as is_open from partitioned_asset_key_log where target_partition_key is null
  union all
  select distinct target_dag_id, false from asset_partition_dag_run where created_dag_run_id is null
) w join dag d using (dag_id)
where not d.is_paused and not d.is_stale and not d.has_import_errors
group by d.dag_id`,
});

const ALIASES = `array(select al.name from asset_alias_asset l join asset_alias al on al.id = l.alias_id where l.asset_id = a.id)`;

export interface OpenKey extends Pick<QueuedAsset, "dagId" | "name" | "uri" | "aliases"> {
  readonly id: number;
  readonly key: string;
}

export const readOpenKeys = defineStatement<readonly [dagIds: readonly string[], limit: number], OpenKey>({
  name: "read-open-partition-keys",
  sql: `
select l.id, l.target_dag_id as "dagId", l.source_partition_key as key, a.name, a.uri, ${ALIASES} as aliases
from partitioned_asset_key_log l join asset a on a.id = l.asset_id
where l.target_dag_id = any ($1) and l.target_partition_key is null
order by l.id limit $2`,
});

/** Ties events to the runs to be of their keys. Parallel arrays. */
export const putPartitionKeys = defineStatement<
  readonly [ids: readonly number[], dagIds: readonly string[], keys: readonly string[]],
  never
>({
  name: "put-partition-keys",
  sql: `
with given as materialized (
  select * from unnest($1::bigint[], $2::text[], $3::text[]) as g(id, dag_id, key)
), pending as (
  insert into asset_partition_dag_run (target_dag_id, partition_key)
  select distinct dag_id, key from given order by dag_id, key
  on conflict (target_dag_id, partition_key, created_dag_run_id) do update set updated_at = now()
  returning id, target_dag_id, partition_key
)
update partitioned_asset_key_log l set target_partition_key = g.key, asset_partition_dag_run_id = p.id
from given g join pending p on p.target_dag_id = g.dag_id and p.partition_key = g.key
where l.id = g.id`,
});

export const dropPartitionKeys = defineStatement<readonly [ids: readonly number[]], never>({
  name: "drop-partition-keys",
  sql: `delete from partitioned_asset_key_log where id = any ($1::bigint[])`,
});

export interface PendingPartition {
  readonly id: number;
  readonly dagId: string;
  readonly key: string;
  /** When the first of its events came. */
  readonly since: Date;
  readonly assets: readonly Pick<QueuedAsset, "name" | "uri" | "aliases">[];
}

/** Keys that wait, the oldest first, with the assets that have come for each. */
export const readPendingPartitions = defineStatement<readonly [dagIds: readonly string[]], PendingPartition>({
  name: "read-pending-partitions",
  sql: `
select p.id, p.target_dag_id as "dagId", p.partition_key as key, p.created_at as since,
  (select jsonb_agg(jsonb_build_object('name', a.name, 'uri', a.uri, 'aliases', ${ALIASES}))
   from asset a where a.id in (select l.asset_id from partitioned_asset_key_log l where l.asset_partition_dag_run_id = p.id)) as assets
from asset_partition_dag_run p
where p.created_dag_run_id is null and p.target_dag_id = any ($1)
order by p.id`,
});

/** The keys have their runs, and the runs their events. Parallel arrays. */
export const fillPartitions = defineStatement<readonly [ids: readonly number[], dagRunIds: readonly number[]], never>({
  name: "fill-partitions",
  sql: `
with given as materialized (
  select * from unnest($1::bigint[], $2::bigint[]) as g(id, dag_run_id)
), filled as (
  update asset_partition_dag_run p set created_dag_run_id = g.dag_run_id, updated_at = now() from given g where p.id = g.id
)
insert into dagrun_asset_event (dag_run_id, event_id)
select distinct g.dag_run_id, l.asset_event_id from given g join partitioned_asset_key_log l on l.asset_partition_dag_run_id = g.id
on conflict do nothing`,
});
