// What waits for DAGs, as people see and drop it. A null leaves a filter out. Locks: the rows, in the order of asset and DAG.
import { defineStatement } from "../statement.ts";

type Filter = readonly [assetId: number | null, dagId: string | null, before: Date | null];

const WHERE = `($1::int is null or q.asset_id = $1) and ($2::text is null or q.target_dag_id = $2)
  and ($3::timestamptz is null or q.created_at < $3)`;

export interface QueuedEvent {
  readonly dagId: string;
  readonly assetId: number;
  readonly createdAt: Date;
  readonly dagDisplayName: string;
}

export const readQueuedEvents = defineStatement<Filter, QueuedEvent>({
  name: "read-queued-events",
  sql: `
select q.target_dag_id as "dagId", q.asset_id as "assetId", q.created_at as "createdAt",
  coalesce(d.dag_display_name, d.dag_id) as "dagDisplayName"
from asset_dag_run_queue q join dag d on d.dag_id = q.target_dag_id
where ${WHERE} order by q.created_at, q.asset_id, q.target_dag_id`,
});

export const dropQueuedEvents = defineStatement<Filter, { readonly assetId: number }>({
  name: "drop-queued-events",
  sql: `
with wanted as (
  select q.asset_id, q.target_dag_id from asset_dag_run_queue q where ${WHERE}
  order by q.asset_id, q.target_dag_id for update
)
delete from asset_dag_run_queue q using wanted w where q.asset_id = w.asset_id and q.target_dag_id = w.target_dag_id
returning q.asset_id as "assetId"`,
});

/** The DAGs, not stale, that have a task which updates the asset. */
export const producersOf = defineStatement<readonly [assetId: number], { readonly dagId: string }>({
  name: "producers-of-asset",
  sql: `
select distinct o.dag_id as "dagId" from task_outlet_asset_reference o join dag d using (dag_id)
where o.asset_id = $1 and not d.is_stale order by 1`,
});
