// Plans that hold fewer runs than `fewer` and go on, with what their code has to be asked with. Those that failed lately
// wait. One small table is looked through; the rest is one row a plan. Index: idx_dag_run_dag_id_logical_date.
import type { DagSpec } from "@millrace/sdk/spec";
import type { PlannedRun } from "../../model/index.ts";
import { defineStatement } from "../statement.ts";

export interface PlanToFill {
  readonly dagId: string;
  readonly generation: number;
  readonly runs: readonly PlannedRun[];
  readonly askedUntil: Date | null;
  readonly file: string;
  readonly artifactHash: string;
  readonly spec: DagSpec;
  readonly lastStart: Date | null;
  readonly lastEnd: Date | null;
  readonly now: Date;
}

export const timetablePlansToFill = defineStatement<readonly [fewer: number, retryAfterSeconds: number], PlanToFill>({
  name: "timetable-plans-to-fill",
  sql: `
select p.dag_id as "dagId", p.generation, p.runs, p.asked_until as "askedUntil", coalesce(d.relative_fileloc, '') as file,
  v.artifact_hash as "artifactHash", v.data as spec, r.data_interval_start as "lastStart", r.data_interval_end as "lastEnd", now() as now
from timetable_plan p
join dag d on d.dag_id = p.dag_id
cross join lateral (
  select v.artifact_hash, s.data from dag_version v join serialized_dag s on s.dag_version_id = v.id
  where v.dag_id = p.dag_id order by v.version_number desc limit 1
) v
left join lateral (
  select data_interval_start, data_interval_end from dag_run r
  where r.dag_id = p.dag_id and r.run_type in ('scheduled', 'backfill') order by r.logical_date desc limit 1
) r on true
where not p.ended and jsonb_array_length(p.runs) < $1 and not d.is_stale and not d.has_import_errors
  and (p.failed_at is null or p.failed_at < now() - make_interval(secs => $2))`,
});
