// What recording a dag depends on: its newest version, the interval of its newest scheduled run, and its warnings.
// Read under the lock of dag-lock-file. Index: idx_dag_run_dag_id_logical_date.
import { defineStatement } from "../statement.ts";
import { OF_SCHEDULE } from "./runs-of-dates.ts";

export interface RecordedDag {
  readonly dagId: string;
  readonly artifactHash: string | null;
  readonly dagHash: string | null;
  readonly lastStart: Date | null;
  readonly lastEnd: Date | null;
  /** Message by warning type. */
  readonly warnings: Readonly<Record<string, string>>;
  readonly now: Date;
}

export const readDagState = defineStatement<readonly [dagIds: readonly string[]], RecordedDag>({
  name: "dag-read-state",
  sql: `
select d.dag_id as "dagId", v.artifact_hash as "artifactHash", v.dag_hash as "dagHash",
  r.data_interval_start as "lastStart", r.data_interval_end as "lastEnd", now() as now,
  (select coalesce(jsonb_object_agg(w.warning_type, w.message), '{}') from dag_warning w where w.dag_id = d.dag_id) as warnings
from unnest($1::text[]) as d(dag_id)
left join lateral (
  select v.artifact_hash, s.dag_hash from dag_version v join serialized_dag s on s.dag_version_id = v.id
  where v.dag_id = d.dag_id order by v.version_number desc limit 1
) v on true
left join lateral (
  select data_interval_start, data_interval_end from dag_run r
  where r.dag_id = d.dag_id and ${OF_SCHEDULE} order by r.logical_date desc limit 1
) r on true`,
});
