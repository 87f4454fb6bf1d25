// pending → running for a few callbacks, the weightiest and oldest first, and again for those whose worker let its lease
// run out. The third worker that is lost with one is taken as its fault: it fails. Locks: the rows; those that another
// worker is claiming are skipped. Index: idx_callback_open.
import type { CallbackKind } from "@millrace/sdk/runtime";
import { defineStatement } from "../statement.ts";

/** Everything that running a callback needs. */
export interface ClaimedCallback {
  readonly id: string;
  readonly kind: CallbackKind;
  /** With the id and the worker it names this claim. */
  readonly attempts: number;
  readonly dagId: string;
  readonly runId: string;
  /** Null for a DAG's callback. */
  readonly taskId: string | null;
  readonly mapIndex: number;
  readonly tryNumber: number;
  readonly artifactHash: string | null;
  readonly data: { readonly versionId: string | null; readonly maxTries?: number; readonly reason: string | null };
  readonly logicalDate: Date | null;
  readonly dataIntervalStart: Date | null;
  readonly dataIntervalEnd: Date | null;
  readonly runAfter: Date;
  readonly runType: string;
  readonly runState: string;
  readonly conf: unknown;
}

const MAX_ATTEMPTS = 3;

export const claimCallbacks = defineStatement<
  readonly [limit: number, workerJobId: number, leaseSeconds: number],
  ClaimedCallback
>({
  name: "claim-callbacks",
  sql: `
with wanted as (
  select id from callback
  where state in ('pending', 'running') and (state = 'pending' or lease_until < now())
  order by priority_weight desc, created_at
  limit $1
  for update skip locked
), claimed as (
  update callback c set
    state = case when c.attempts < ${MAX_ATTEMPTS} then 'running' else 'failed' end,
    attempts = c.attempts + case when c.attempts < ${MAX_ATTEMPTS} then 1 else 0 end,
    lease_until = case when c.attempts < ${MAX_ATTEMPTS} then now() + make_interval(secs => $3) end,
    output = case when c.attempts < ${MAX_ATTEMPTS} then null else 'its worker was lost ${MAX_ATTEMPTS} times' end,
    worker_job_id = $2
  from wanted w where c.id = w.id
  returning c.*
)
select c.id, c.kind, c.attempts, r.dag_id as "dagId", r.run_id as "runId", c.task_id as "taskId",
  c.map_index as "mapIndex", c.try_number as "tryNumber", c.artifact_hash as "artifactHash", c.data,
  r.logical_date as "logicalDate", r.data_interval_start as "dataIntervalStart", r.data_interval_end as "dataIntervalEnd",
  r.run_after as "runAfter", r.run_type as "runType", r.state as "runState", r.conf
from claimed c join dag_run r on r.id = c.dag_run_id
where c.state = 'running'
order by c.priority_weight desc, c.created_at`,
});
