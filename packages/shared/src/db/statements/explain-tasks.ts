// The task instances of a run with what their conditions say of them. An attempt's state is as old as its last transition.
// Index: (dag_id, run_id, task_id, map_index).
import type { BranchDecision } from "@millrace/sdk/runtime";
import type { TaskState } from "../../model/index.ts";
import { defineStatement } from "../statement.ts";

export interface ExplainedTask {
  readonly id: string;
  readonly taskId: string;
  readonly mapIndex: number;
  readonly state: TaskState;
  readonly isDue: boolean;
  readonly endedBeforeClear: boolean;
  readonly branchDecision: BranchDecision | null;
  readonly pool: string;
  readonly poolSlots: number;
  readonly queue: string;
  readonly priorityWeight: number;
  readonly since: Date | null;
  readonly queuedAt: Date | null;
  readonly sentAt: Date | null;
  readonly startedAt: Date | null;
  readonly retryAt: Date | null;
  readonly worker: string | null;
  readonly heartbeatAge: number | null;
  readonly mark: TaskState | null;
  readonly reason: string | null;
  readonly trigger: string | null;
  readonly triggerQueue: string | null;
  readonly triggerKwargs: string | null;
  readonly question: string | null;
  readonly triggerTimeout: Date | null;
}

export const explainTaskRows = defineStatement<readonly [dagId: string, runId: string], ExplainedTask>({
  name: "explain-tasks",
  sql: `
select ti.id, ti.task_id as "taskId", ti.map_index as "mapIndex", coalesce(ti.state, 'none') as state,
  coalesce(ti.retry_at <= now(), true) as "isDue", coalesce(ti.end_date < r.queued_at, false) as "endedBeforeClear", ti.branch_decision as "branchDecision", ti.pool, ti.pool_slots as "poolSlots",
  ti.queue, ti.priority_weight as "priorityWeight",
  coalesce((select x.at from task_instance_transition x where x.row_id = ti.row_id order by x.epoch desc limit 1), r.queued_at) as since,
  ti.queued_dttm as "queuedAt", ti.updated_at as "sentAt", ti.start_date as "startedAt", ti.retry_at as "retryAt",
  ti.hostname as worker, extract(epoch from now() - ti.latest_heartbeat)::float8 as "heartbeatAge", ti.mark,
  ti.state_reason as reason, g.classpath as trigger, g.queue as "triggerQueue", g.kwargs as "triggerKwargs", h.subject as question, ti.trigger_timeout as "triggerTimeout"
from task_instance ti
join dag_run r on r.id = ti.dag_run_id
left join trigger g on g.id = ti.trigger_id
left join hitl_detail h on h.ti_id = ti.id and ti.state = 'deferred'
where ti.dag_id = $1 and ti.run_id = $2
order by ti.task_id, ti.map_index`,
});
