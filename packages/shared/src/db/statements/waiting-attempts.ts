// The attempts that wait for triggers: what running a user's trigger, ending its task or writing to its log needs.
import { defineStatement } from "../statement.ts";

export interface WaitingAttempt {
  readonly triggerId: number;
  readonly id: string;
  readonly epoch: number;
  /** `end`: the event is the task's value. */
  readonly nextMethod: string | null;
  readonly dagRunId: number;
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
  readonly tryNumber: number;
  readonly maxTries: number;
  readonly logicalDate: Date | null;
  readonly runAfter: Date;
  readonly versionId: string;
  readonly artifactHash: string;
  readonly runType: string;
  readonly conf: Readonly<Record<string, unknown>>;
  readonly dataIntervalStart: Date | null;
  readonly dataIntervalEnd: Date | null;
}

export const waitingAttempts = defineStatement<readonly [triggerIds: readonly number[]], WaitingAttempt>({
  name: "waiting-attempts",
  sql: `
select ti.trigger_id as "triggerId", ti.id, ti.epoch, ti.next_method as "nextMethod", ti.dag_run_id as "dagRunId",
  ti.dag_id as "dagId", ti.run_id as "runId", ti.task_id as "taskId", ti.map_index as "mapIndex",
  ti.try_number as "tryNumber", ti.max_tries as "maxTries", ti.logical_date as "logicalDate", ti.run_after as "runAfter",
  ti.dag_version_id as "versionId", v.artifact_hash as "artifactHash", r.run_type as "runType", r.conf,
  r.data_interval_start as "dataIntervalStart", r.data_interval_end as "dataIntervalEnd"
from task_instance ti
join dag_run r on r.id = ti.dag_run_id
join dag_version v on v.id = ti.dag_version_id
where ti.trigger_id = any ($1::int[]) and ti.state = 'deferred'`,
});
