// Pauses dags whose newest runs, as many as maxConsecutiveFailedDagRuns says, have all failed, with a line of the audit log.
import { defineStatement } from "../statement.ts";

export const pauseFailingDags = defineStatement<readonly [dagIds: readonly string[]], { readonly dagId: string }>({
  name: "pause-failing-dags",
  sql: `
with failing as (
  select d.dag_id, d.max_consecutive_failed_dag_runs as runs from dag d
  where d.dag_id = any ($1::text[]) and d.max_consecutive_failed_dag_runs > 0 and not d.is_paused
    and (
      select count(*) filter (where newest.state = 'failed') from (
        select r.state from dag_run r where r.dag_id = d.dag_id
        order by r.logical_date desc nulls last, r.run_after desc, r.id desc
        limit d.max_consecutive_failed_dag_runs
      ) newest
    ) = d.max_consecutive_failed_dag_runs
  order by d.dag_id
  for no key update
), paused as (
  update dag d set is_paused = true from failing f where d.dag_id = f.dag_id returning d.dag_id, f.runs
), noted as (
  insert into log (event, dag_id, owner, extra)
  select 'paused', dag_id, 'scheduler', format('its newest %s runs have all failed', runs) from paused
)
select dag_id as "dagId" from paused`,
});
