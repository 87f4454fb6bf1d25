// Locks dags that are to be planned, with what their plan depends on: the newest version's spec the interval of the
// newest scheduled run, and the next run as planned so far. Locks: dag rows, by id. Index: idx_dag_run_dag_id_logical_date.
import type { DagSpec } from "@millrace/sdk/spec";
import { defineStatement } from "../statement.ts";
import { OF_SCHEDULE } from "./runs-of-dates.ts";

export interface DagToPlan {
  readonly dagId: string;
  readonly spec: DagSpec;
  readonly lastStart: Date | null;
  readonly lastEnd: Date | null;
  readonly isPaused: boolean;
  readonly isStale: boolean;
  readonly nextDate: Date | null;
  readonly nextStart: Date | null;
  readonly nextEnd: Date | null;
  readonly nextAfter: Date | null;
  readonly now: Date;
}

export const lockDagsToPlan = defineStatement<readonly [dagIds: readonly string[]], DagToPlan>({
  name: "dag-lock-to-plan",
  sql: `
select d.dag_id as "dagId", v.data as spec, r.data_interval_start as "lastStart", r.data_interval_end as "lastEnd", now() as now,
  d.is_paused as "isPaused", d.is_stale as "isStale", d.next_dagrun as "nextDate",
  d.next_dagrun_data_interval_start as "nextStart", d.next_dagrun_data_interval_end as "nextEnd",
  d.next_dagrun_create_after as "nextAfter"
from dag d
cross join lateral (
  select s.data from dag_version v join serialized_dag s on s.dag_version_id = v.id
  where v.dag_id = d.dag_id order by v.version_number desc limit 1
) v
left join lateral (
  select data_interval_start, data_interval_end from dag_run r
  where r.dag_id = d.dag_id and ${OF_SCHEDULE} order by r.logical_date desc limit 1
) r on true
where d.dag_id = any ($1)
order by d.dag_id
for no key update of d`,
});
