// Attempts that occupy slots of limits, the oldest first: of everything, of a pool, a DAG, a task of it, or that task in one
// run. A limit that is not asked for is null. Index: idx_ti_occupying.
import type { TaskState } from "../../model/index.ts";
import { defineStatement } from "../statement.ts";

export interface SlotHolder {
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
  readonly state: TaskState;
  readonly slots: number;
  readonly since: Date | null;
}

export const slotHolders = defineStatement<
  readonly [
    all: boolean,
    pool: string | null,
    dagId: string | null,
    taskDagId: string | null,
    taskId: string | null,
    dagRunId: number | null,
    limit: number,
  ],
  SlotHolder
>({
  name: "slot-holders",
  sql: `
select ti.dag_id as "dagId", ti.run_id as "runId", ti.task_id as "taskId", ti.map_index as "mapIndex", ti.state,
  ti.pool_slots as slots, coalesce(ti.queued_dttm, ti.start_date) as since
from task_instance ti
where (ti.state in ('queued', 'running', 'restarting', 'shutdown')
    and ($1 or ti.pool = $2 or ti.dag_id = $3
      or (ti.dag_id = $4 and ti.task_id = $5 and ($6::bigint is null or ti.dag_run_id = $6))))
  or (ti.state = 'deferred' and ti.pool = $2 and exists (select from slot_pool p where p.pool = $2 and p.include_deferred))
order by since nulls last, ti.id
limit $7`,
});
