// Backfills whose dates are still to be asked for, and the answer. Whoever has the backfill's row writes it, once, with any
// number of dag-processors; after a cancel it is written no more.
import type { DagSpec } from "@millrace/sdk/spec";
import { defineStatement } from "../statement.ts";

export interface BackfillToPlan {
  readonly id: number;
  readonly dagId: string;
  readonly from: Date;
  readonly to: Date;
  readonly runBackwards: boolean;
  readonly file: string;
  readonly artifactHash: string;
  readonly spec: DagSpec;
  readonly now: Date;
}

/** Those whose file can be asked. Index: idx_backfill_to_plan. */
export const backfillsToPlan = defineStatement<readonly [], BackfillToPlan>({
  name: "backfills-to-plan",
  sql: `
select b.id, b.dag_id as "dagId", b.from_date as from, b.to_date as to, b.run_backwards as "runBackwards",
  coalesce(d.relative_fileloc, '') as file, v.artifact_hash as "artifactHash", v.data as spec, now() as now
from backfill b
join dag d on d.dag_id = b.dag_id
cross join lateral (
  select v.artifact_hash, s.data from dag_version v join serialized_dag s on s.dag_version_id = v.id
  where v.dag_id = b.dag_id order by v.version_number desc limit 1
) v
where not b.is_planned and b.completed_at is null and not d.is_stale and not d.has_import_errors
order by b.id`,
});

/** With an error it is over. No row: somebody else has written it, or it was cancelled. Locks: the backfill. */
export const markBackfillPlanned = defineStatement<
  readonly [id: number, error: string | null],
  { readonly id: number }
>({
  name: "mark-backfill-planned",
  sql: `
update backfill set is_planned = true, plan_error = $2, completed_at = case when $2::text is not null then now() end,
  updated_at = now()
where id = $1 and not is_planned and completed_at is null
returning id`,
});
