// queued → running for the attempts whose messages a worker holds. No row for one of them: somebody else has it, or it
// is stale. The token names this claim, so that after a lost answer the worker can ask whether it was made.
// A new try starts without the XComs of the one before; one that goes on after a wait keeps them, and its start. Locks: the rows.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";
import type { KeptWait } from "./kept-waits.ts";

export type ClaimParams = readonly [
  ids: readonly string[],
  epochs: readonly number[],
  tokens: readonly string[],
  hostname: string,
  unixname: string,
  pid: number,
  workerJobId: number,
];

/** Everything that running an attempt needs. */
export interface ClaimedAttempt {
  readonly id: string;
  readonly epoch: number;
  readonly dagRunId: number;
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
  readonly tryNumber: number;
  readonly maxTries: number;
  readonly infraFailures: number;
  readonly logicalDate: Date | null;
  readonly runAfter: Date;
  readonly versionId: string;
  readonly artifactHash: string;
  readonly runType: string;
  readonly conf: Readonly<Record<string, unknown>>;
  readonly dataIntervalStart: Date | null;
  readonly dataIntervalEnd: Date | null;
  readonly partitionKey: string | null;
  /** The database's time of the claim. */
  readonly claimedAt: Date;
  /** Set when this try has waited before: what goes on now, and what was kept for it. */
  readonly nextMethod: string | null;
  readonly nextKwargs: KeptWait | null;
  /** Seconds from the first start of this try to the claim. */
  readonly waitedSeconds: number;
}

const ATTEMPT = (
  ti: string,
) => `${ti}.id, ${ti}.epoch, ${ti}.dag_run_id as "dagRunId", ${ti}.dag_id as "dagId", ${ti}.run_id as "runId",
  ${ti}.task_id as "taskId", ${ti}.map_index as "mapIndex", ${ti}.try_number as "tryNumber", ${ti}.max_tries as "maxTries",
  ${ti}.infra_failures as "infraFailures", ${ti}.logical_date as "logicalDate", ${ti}.run_after as "runAfter",
  ${ti}.dag_version_id as "versionId", v.artifact_hash as "artifactHash", r.run_type as "runType", r.conf,
  r.data_interval_start as "dataIntervalStart", r.data_interval_end as "dataIntervalEnd", r.partition_key as "partitionKey", ${ti}.updated_at as "claimedAt", ${ti}.next_method as "nextMethod",
  ${ti}.next_kwargs as "nextKwargs", extract(epoch from ${ti}.updated_at - ${ti}.start_date)::float8 as "waitedSeconds"`;

export const claimAttempts = defineStatement<ClaimParams, ClaimedAttempt>({
  name: "claim-attempts",
  transitions: ["queued>running"],
  sql: `
with claimed as (
  update task_instance ti set state = 'running', epoch = ti.epoch + 1, start_token = m.token,
    start_date = case when ti.next_method is null then now() else coalesce(ti.start_date, now()) end,
    end_date = null, duration = null, hostname = $4, unixname = $5, pid = $6, worker_job_id = $7,
    latest_heartbeat = now(), updated_at = now()
  from unnest($1::uuid[], $2::int[], $3::uuid[]) as m(id, epoch, token)
  where ti.id = m.id and ti.epoch = m.epoch and ${stateOf("ti")} = 'queued'
  returning ti.*
), cleared as (
  delete from xcom x using claimed c
  where c.try_number > 1 and c.next_method is null
    and x.dag_run_id = c.dag_run_id and x.task_id = c.task_id and x.map_index = c.map_index
)
select ${ATTEMPT("c")}
from claimed c
join dag_run r on r.id = c.dag_run_id
join dag_version v on v.id = c.dag_version_id`,
});

/** What a claim of this task instance would give, whatever its state is. */
export const readAttemptOf = defineStatement<
  readonly [dagId: string, runId: string, taskId: string, mapIndex: number],
  ClaimedAttempt
>({
  name: "read-attempt-of",
  sql: `
select ${ATTEMPT("ti")}
from task_instance ti
join dag_run r on r.id = ti.dag_run_id
join dag_version v on v.id = ti.dag_version_id
where ti.dag_id = $1 and ti.run_id = $2 and ti.task_id = $3 and ti.map_index = $4`,
});

/** After a claim whose answer was lost: those that were made. */
export const readClaims = defineStatement<readonly [ids: readonly string[], tokens: readonly string[]], ClaimedAttempt>(
  {
    name: "read-claims",
    sql: `
select ${ATTEMPT("ti")}
from unnest($1::uuid[], $2::uuid[]) as m(id, token)
join task_instance ti on ti.id = m.id and ti.start_token = m.token and ${stateOf("ti")} = 'running'
join dag_run r on r.id = ti.dag_run_id
join dag_version v on v.id = ti.dag_version_id`,
  },
);
