// The runs of a DAG next to given ones by logical date. Index: idx_dag_run_dag_id_logical_date.
import { defineStatement } from "../statement.ts";

export interface PreviousRun {
  readonly id: number;
  readonly previousId: number;
  readonly dagId: string;
  readonly runId: string;
  readonly logicalDate: Date;
  readonly isOver: boolean;
}

/** The first run of a backfill has none: there it begins. `withoutManual`: a DAG under catchup depends on its schedule's runs only. */
export const previousRuns = defineStatement<
  readonly [ids: readonly number[], withoutManual: readonly boolean[]],
  PreviousRun
>({
  name: "previous-runs",
  sql: `
select r.id, p.id as "previousId", p.dag_id as "dagId", p.run_id as "runId", p.logical_date as "logicalDate",
  p.state not in ('queued', 'running') as "isOver"
from unnest($1::bigint[], $2::boolean[]) as k(id, without_manual)
join dag_run r on r.id = k.id
cross join lateral (
  select p.* from dag_run p
  where p.dag_id = r.dag_id and p.logical_date < r.logical_date and not (k.without_manual and p.run_type = 'manual')
  order by p.logical_date desc limit 1
) p
where not exists (
  select from backfill_dag_run b where b.backfill_id = r.backfill_id and b.dag_run_id = r.id and b.sort_ordinal = 1
)`,
});

/** The active run after each: it may have waited for this one. */
export const nextRuns = defineStatement<readonly [ids: readonly number[]], { readonly id: number }>({
  name: "next-runs",
  sql: `
select n.id
from unnest($1::bigint[]) as k(id)
join dag_run r on r.id = k.id
cross join lateral (
  select n.id, n.state from dag_run n
  where n.dag_id = r.dag_id and n.logical_date > r.logical_date
  order by n.logical_date limit 2
) n
where n.state in ('queued', 'running')`,
});

/** The active run after each of these that is over: a task that ended only now may be what it waited for. */
export const runsAfterOver = defineStatement<
  readonly [ids: readonly number[]],
  { readonly id: number; readonly state: "queued" | "running"; readonly versionId: string }
>({
  name: "runs-after-over",
  sql: `
select n.id, n.state, n.created_dag_version_id as "versionId"
from unnest($1::bigint[]) as k(id)
join dag_run r on r.id = k.id and r.state not in ('queued', 'running')
cross join lateral (
  select n.id, n.state, n.created_dag_version_id from dag_run n
  where n.dag_id = r.dag_id and n.logical_date > r.logical_date
  order by n.logical_date limit 2
) n
where n.state in ('queued', 'running') and n.created_dag_version_id is not null`,
});

/** Of these tasks, those that some run before the given date has. */
export const tasksWithEarlier = defineStatement<
  readonly [dagIds: readonly string[], taskIds: readonly string[], before: readonly Date[]],
  { readonly dagId: string; readonly taskId: string }
>({
  name: "tasks-with-earlier",
  sql: `
select k.dag_id as "dagId", k.task_id as "taskId"
from unnest($1::text[], $2::text[], $3::timestamptz[]) as k(dag_id, task_id, before)
where exists (
  select from dag_run r join task_instance ti on ti.dag_id = r.dag_id and ti.run_id = r.run_id and ti.task_id = k.task_id
  where r.dag_id = k.dag_id and r.logical_date < k.before
)`,
});
