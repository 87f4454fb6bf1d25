// Takes dags whose next run is due and that have room for one more active run, each with its newest version and how many
// runs it may get. Dags that another scheduler has are skipped: their runs are being created.
// Index: idx_dag_next_dagrun_create_after.
import { defineStatement } from "../statement.ts";

export interface DueDag {
  readonly dagId: string;
  readonly versionId: string;
  /** Runs that may be created now. */
  readonly room: number;
  readonly logicalDate: Date;
  readonly intervalStart: Date;
  readonly intervalEnd: Date;
  readonly runAfter: Date;
  readonly now: Date;
}

export const lockDueDags = defineStatement<readonly [limit: number], DueDag>({
  name: "lock-due-dags",
  sql: `
select d.dag_id as "dagId", v.id as "versionId", d.max_active_runs - a.active as room,
  d.next_dagrun as "logicalDate", d.next_dagrun_data_interval_start as "intervalStart",
  d.next_dagrun_data_interval_end as "intervalEnd", d.next_dagrun_create_after as "runAfter", now() as now
from dag d
cross join lateral (
  select count(*)::int as active from dag_run r
  where r.dag_id = d.dag_id and r.state in ('queued', 'running') and r.run_type <> 'backfill'
) a
cross join lateral (
  select id from dag_version v where v.dag_id = d.dag_id order by v.version_number desc limit 1
) v
where not d.is_paused and not d.is_stale and not d.has_import_errors
  and d.next_dagrun_create_after <= now() and a.active < d.max_active_runs
order by d.next_dagrun_create_after
limit $1
for no key update of d skip locked`,
});
