// All attempts of a worker say in one statement that they live, without waiting for the disk: a heartbeat lost in a crash
// is followed by the next. Gives back those it still has, with their state: a row missing or in restarting or shutdown
// tells the worker to stop that process.
// A row that somebody holds at this moment (a clear, a sweep) keeps no other waiting: it is told as it was before, and
// says that it lives with the next heartbeat. Until then its lease runs on, and the worker has to know.
import { defineStatement } from "../statement.ts";
import { stateOf } from "./found-by-id.ts";

export interface LivingAttempt {
  readonly id: string;
  readonly epoch: number;
  readonly state: "running" | "restarting" | "shutdown";
  /** Whether this heartbeat is on the row. */
  readonly isProven: boolean;
}

export const heartbeatAttempts = defineStatement<readonly [ids: readonly string[], workerJobId: number], LivingAttempt>(
  {
    name: "heartbeat-attempts",
    sql: `
with unsynced as materialized (select set_config('synchronous_commit', 'off', true)),
free as (
  select ti.id from task_instance ti, unsynced
  where ti.id = any ($1::uuid[]) and ti.worker_job_id = $2 and ${stateOf("ti")} in ('running', 'restarting', 'shutdown')
  for no key update of ti skip locked
), said as (
  update task_instance ti set latest_heartbeat = now() from free where ti.id = free.id
)
select id, epoch, state, id in (select id from free) as "isProven" from task_instance
where id = any ($1::uuid[]) and worker_job_id = $2 and ${stateOf("task_instance")} in ('running', 'restarting', 'shutdown')`,
  },
);
