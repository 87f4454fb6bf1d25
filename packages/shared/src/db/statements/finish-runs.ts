// Closes runs on which the verdict has fallen; one that was marked meanwhile ends as its mark says. Locks: the runs, which the caller holds already.
import { defineStatement } from "../statement.ts";

export interface FinishedRun {
  readonly id: number;
  readonly dagId: string;
  readonly runId: string;
  readonly state: "success" | "failed";
  readonly backfillId: number | null;
}

export const finishRuns = defineStatement<
  readonly [
    ids: readonly number[],
    states: readonly string[],
    /** Airflow's words: success, task_failure, all_tasks_deadlocked. */
    reasons: readonly string[],
  ],
  FinishedRun
>({
  name: "finish-runs",
  transitions: ["run running>success", "run running>failed", "run queued>success"],
  sql: `
update dag_run r set state = coalesce(r.mark, f.state), mark = null,
  state_reason = case when r.mark is null then f.reason else 'marked' end, start_date = coalesce(r.start_date, now()), end_date = now(), updated_at = now()
from unnest($1::bigint[], $2::text[], $3::text[]) as f(id, state, reason)
where r.id = f.id and (r.state = 'running' or (r.state = 'queued' and f.state = 'success'))
returning r.id, r.dag_id as "dagId", r.run_id as "runId", r.state, r.backfill_id as "backfillId"`,
});
