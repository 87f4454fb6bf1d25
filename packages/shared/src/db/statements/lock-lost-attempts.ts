// Attempts whose worker fell silent. Locked, so that one scheduler judges each; those being judged are skipped. Nobody is
// judged before the server has been up for one full lease: an outage silences everyone.
import { defineStatement } from "../statement.ts";

export interface LostAttempt {
  readonly id: string;
  readonly epoch: number;
  readonly dagRunId: number;
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
  readonly tryNumber: number;
  readonly infraFailures: number;
  readonly versionId: string;
  readonly hostname: string | null;
  readonly silentSeconds: number;
  readonly state: "running" | "restarting" | "shutdown";
}

export const lockLostAttempts = defineStatement<readonly [leaseSeconds: number, limit: number], LostAttempt>({
  name: "lock-lost-attempts",
  sql: `
select id, epoch, dag_run_id as "dagRunId", dag_id as "dagId", run_id as "runId", task_id as "taskId",
  map_index as "mapIndex", try_number as "tryNumber", infra_failures as "infraFailures", dag_version_id as "versionId",
  hostname, state, extract(epoch from now() - latest_heartbeat)::float8 as "silentSeconds"
from task_instance
where state in ('running', 'restarting', 'shutdown') and latest_heartbeat < now() - make_interval(secs => $1)
  and pg_postmaster_start_time() < now() - make_interval(secs => $1)
order by id
limit $2
for update skip locked`,
});
