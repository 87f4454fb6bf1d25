// Creates runs. A run that exists (by run id, or by logical date for scheduled and backfill runs) is left alone and not
// returned. Locks: none but the new rows. Parameters are parallel arrays, one entry a run.
import { defineStatement } from "../statement.ts";

export type InsertRunsParams = readonly [
  dagIds: readonly string[],
  runIds: readonly string[],
  runTypes: readonly string[],
  logicalDates: readonly (Date | null)[],
  intervalStarts: readonly (Date | null)[],
  intervalEnds: readonly (Date | null)[],
  runAfters: readonly (Date | null)[],
  confs: readonly string[],
  triggeredBy: readonly string[],
  users: readonly (string | null)[],
  versionIds: readonly string[],
  timeoutSeconds: readonly (number | null)[],
  /** Kinds of callback, joined by commas: arrays of arrays do not unnest. */
  callbacks: readonly string[],
  backfillIds: readonly (number | null)[],
  partitionKeys: readonly (string | null)[],
];

export interface InsertedRun {
  readonly id: number;
  readonly dagId: string;
  readonly runId: string;
  readonly runAfter: Date;
}

export const insertRuns = defineStatement<InsertRunsParams, InsertedRun>({
  name: "insert-runs",
  sql: `
insert into dag_run (dag_id, run_id, run_type, logical_date, data_interval_start, data_interval_end, run_after, conf,
  triggered_by, triggering_user_name, created_dag_version_id, timeout_seconds, callbacks, backfill_id, partition_key, state, queued_at,
  bundle_version)
select r.dag_id, r.run_id, r.run_type, r.logical_date, r.interval_start, r.interval_end,
  coalesce(r.run_after, r.interval_end, r.logical_date, now()), r.conf::jsonb, r.triggered_by, r.user_name, r.version_id, r.timeout,
  string_to_array(r.callbacks, ','), r.backfill_id, r.partition_key, 'queued', now(),
  (select v.bundle_version from dag_version v where v.id = r.version_id)
from unnest($1::text[], $2::text[], $3::text[], $4::timestamptz[], $5::timestamptz[], $6::timestamptz[], $7::timestamptz[],
  $8::text[], $9::text[], $10::text[], $11::uuid[], $12::float8[], $13::text[], $14::int[], $15::text[])
  as r(dag_id, run_id, run_type, logical_date, interval_start, interval_end, run_after, conf, triggered_by, user_name, version_id, timeout,
    callbacks, backfill_id, partition_key)
on conflict do nothing
returning id, dag_id as "dagId", run_id as "runId", run_after as "runAfter"`,
});
