// Reads task instances of runs for a decision: the named tasks, or every task of the named runs. Whether a delay is over
// is the database's answer. Index: (dag_id, run_id, task_id, map_index).
import type { BranchDecision } from "@millrace/sdk/runtime";
import type { ListLength, TaskState } from "../../model/index.ts";
import { defineStatement } from "../statement.ts";

export interface TaskInstanceSnapshot {
  readonly id: string;
  readonly epoch: number;
  readonly dagRunId: number;
  readonly taskId: string;
  readonly mapIndex: number;
  readonly state: TaskState;
  readonly isDue: boolean;
  readonly branchDecision: BranchDecision | null;
  /** It ended before something of its run was last cleared; told only of whole runs. */
  readonly endedBeforeClear?: boolean;
  /** It stands for so many instances of a mapped task that nothing tells apart: then id, epoch and index are no one's. */
  readonly count?: number;
  readonly lists?: Readonly<Record<string, ListLength>>;
}

const COLUMNS = `ti.id, ti.epoch, ti.dag_run_id as "dagRunId", ti.task_id as "taskId", ti.map_index as "mapIndex",
  coalesce(ti.state, 'none') as state, coalesce(ti.retry_at <= now(), true) as "isDue", ti.branch_decision as "branchDecision"`;

export const loadTasks = defineStatement<
  readonly [dagIds: readonly string[], runIds: readonly string[], taskIds: readonly string[]],
  TaskInstanceSnapshot
>({
  name: "load-tasks",
  sql: `
select ${COLUMNS}
from unnest($1::text[], $2::text[], $3::text[]) as k(dag_id, run_id, task_id)
join task_instance ti on ti.dag_id = k.dag_id and ti.run_id = k.run_id and ti.task_id = k.task_id`,
});

/**
 * For tasks with mappings of their own, which can have thousands of instances: one by one only those of which something is
 * to be decided, or may be revived; the others counted by state and branch decision.
 */
export const loadMappedTasks = defineStatement<
  readonly [dagIds: readonly string[], runIds: readonly string[], taskIds: readonly string[]],
  TaskInstanceSnapshot
>({
  name: "load-mapped-tasks",
  sql: `
with found as materialized (
  select ti.*, ti.map_index < 0 or ti.state is null or ti.state in ('up_for_retry', 'up_for_reschedule', 'removed') as single
  from unnest($1::text[], $2::text[], $3::text[]) as k(dag_id, run_id, task_id)
  cross join lateral (
    select id, epoch, dag_run_id, task_id, map_index, state, retry_at, branch_decision
    from task_instance t where t.dag_id = k.dag_id and t.run_id = k.run_id and t.task_id = k.task_id
  ) ti
)
select ${COLUMNS}, 1 as count from found ti where single
union all
select '00000000-0000-0000-0000-000000000000', 0, dag_run_id, task_id, 0, state, true, branch_decision, count(*)::int
from found where not single group by dag_run_id, task_id, state, branch_decision`,
});

export const loadRuns = defineStatement<
  readonly [dagIds: readonly string[], runIds: readonly string[]],
  TaskInstanceSnapshot
>({
  name: "load-runs",
  sql: `
select ${COLUMNS}, coalesce(ti.end_date < r.queued_at, false) as "endedBeforeClear"
from unnest($1::text[], $2::text[]) as k(dag_id, run_id)
join dag_run r on r.dag_id = k.dag_id and r.run_id = k.run_id
join task_instance ti on ti.dag_id = k.dag_id and ti.run_id = k.run_id`,
});

// RACE: the run is over with this transaction and not looked at again, so a claim, an end or a retry that is written
// between the reading and the change would leave a task going in it.
export const lockTasksOfRuns = defineStatement<
  readonly [dagIds: readonly string[], runIds: readonly string[]],
  TaskInstanceSnapshot
>({
  name: "lock-tasks-of-runs",
  sql: `
select ${COLUMNS}
from unnest($1::text[], $2::text[]) as k(dag_id, run_id)
join task_instance ti on ti.dag_id = k.dag_id and ti.run_id = k.run_id
order by ti.id
for update of ti`,
});
