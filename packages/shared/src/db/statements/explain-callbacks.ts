// The callbacks of one task instance, or (without a task) of a run itself: what is declared and what was asked for since the
// last clear, at most the twenty newest. Indexes: idx_callback_dag_run_id, the key of task_instance.
import { defineStatement } from "../statement.ts";

export interface ExplainedCallback {
  readonly callback: string;
  readonly state: "pending" | "running" | "success" | "failed";
  readonly since: string;
  readonly attempts: number;
  readonly worker: string | null;
  readonly output: string | null;
  readonly tryNumber: number;
}

export const explainCallbackRows = defineStatement<
  readonly [dagRunId: number, taskId: string | null, mapIndex: number],
  { readonly declared: readonly string[]; readonly hasRun: boolean; readonly asked: readonly ExplainedCallback[] }
>({
  name: "explain-callbacks",
  sql: `
select coalesce(case when $2::text is null then r.callbacks else ti.callbacks end, '{}') as declared,
  ti.start_date is not null as "hasRun",
  coalesce((select jsonb_agg(to_jsonb(n) order by n.since) from (
    select c.kind as callback, c.state, c.created_at as since, c.attempts, j.hostname as worker, c.output,
      c.try_number as "tryNumber"
    from callback c left join job j on j.id = c.worker_job_id
    where c.dag_run_id = r.id and case when $2::text is null then c.ti_id is null and c.clear_number = r.clear_number
      else c.task_id = $2 and c.map_index = $3 end
    order by c.created_at desc limit 20
  ) n), '[]') as asked
from dag_run r
left join task_instance ti on ti.dag_run_id = r.id and ti.task_id = $2 and ti.map_index = $3
where r.id = $1`,
});
