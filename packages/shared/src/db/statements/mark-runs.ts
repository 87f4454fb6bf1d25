// A run's state as somebody sets it, or as its timeout does. A finished run that is queued again counts as cleared.
import { defineStatement } from "../statement.ts";

export const markRuns = defineStatement<
  readonly [ids: readonly number[], state: string, reason: string],
  { readonly id: number; readonly dagId: string; readonly runId: string }
>({
  name: "mark-runs",
  transitions: [
    "run queued>success",
    "run queued>failed",
    "run running>success",
    "run running>failed",
    "run success>failed",
    "run failed>success",
    "run success>queued",
    "run failed>queued",
    "run running>queued",
  ],
  sql: `
with locked as (
  select id from dag_run where id = any ($1::bigint[]) and state <> $2 order by id for no key update
)
update dag_run r set state = $2, mark = null, state_reason = left($3, 250), updated_at = now(),
  queued_at = case when $2 = 'queued' then now() else r.queued_at end,
  clear_number = r.clear_number + case when $2 = 'queued' and r.state <> 'running' then 1 else 0 end,
  start_date = case when $2 = 'queued' then null else coalesce(r.start_date, now()) end,
  end_date = case when $2 = 'queued' then null when r.end_date is null then now() else r.end_date end
from locked l where r.id = l.id
returning r.id, r.dag_id as "dagId", r.run_id as "runId"`,
});

/**
 * The run goes on, and its verdict will be this state whatever its tasks say; null takes an earlier wish back. Locks: the
 * run, which the caller holds.
 */
export const wishRun = defineStatement<
  readonly [id: number, state: string | null, reason: string],
  { readonly id: number }
>({
  name: "wish-run",
  sql: `
update dag_run set mark = $2, state_reason = left($3, 250), updated_at = now()
where id = $1 and state in ('queued', 'running')
returning id`,
});
