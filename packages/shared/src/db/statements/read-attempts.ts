// Where attempts stand now, for a worker that does not know whether its write was made. An attempt that is no longer the
// task instance's own is found in the history.
import { defineStatement } from "../statement.ts";

export interface AttemptStanding {
  readonly id: string;
  readonly state: string;
  readonly epoch: number;
  readonly isHistory: boolean;
}

export const readAttempts = defineStatement<readonly [ids: readonly string[]], AttemptStanding>({
  name: "read-attempts",
  sql: `
select id, coalesce(state, 'none') as state, epoch, false as "isHistory" from task_instance where id = any ($1::uuid[])
union all
select task_instance_id, state, epoch, true from task_instance_history where task_instance_id = any ($1::uuid[])`,
});
