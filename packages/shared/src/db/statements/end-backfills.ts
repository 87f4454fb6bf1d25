// The end of backfills: all their runs are over, or somebody cancelled them.
import { defineStatement } from "../statement.ts";

/**
 * Closes those of which no date is to be come to and no run is queued or running. Asked after the commit of what ended
 * the runs, and now and then of all: whoever ends the last one sees that it was the last.
 * Indexes: backfill_active_dag_id_uq, idx_backfill_dag_run_pending, idx_dag_run_backfill_id.
 */
export const completeBackfills = defineStatement<readonly [], { readonly id: number; readonly dagId: string }>({
  name: "complete-backfills",
  sql: `
update backfill b set completed_at = now(), updated_at = now()
where b.completed_at is null and b.is_planned
  and not exists (select from backfill_dag_run d where d.backfill_id = b.id and d.is_pending)
  and not exists (select from dag_run r where r.backfill_id = b.id and r.state in ('queued', 'running'))
returning b.id, b.dag_id as "dagId"`,
});

/** Locks the dag row of a backfill: what starts runs holds it, so none starts after a pause. */
export const lockDagOfBackfill = defineStatement<readonly [id: number], { readonly dagId: string }>({
  name: "lock-dag-of-backfill",
  sql: `
select d.dag_id as "dagId" from dag d
where d.dag_id = (select dag_id from backfill where id = $1)
for no key update`,
});

export const lockBackfill = defineStatement<
  readonly [id: number],
  { readonly dagId: string; readonly isPaused: boolean; readonly completedAt: Date | null }
>({
  name: "lock-backfill",
  sql: `
select dag_id as "dagId", is_paused as "isPaused", completed_at as "completedAt" from backfill where id = $1
for no key update`,
});

export const pauseBackfill = defineStatement<readonly [id: number, isPaused: boolean], never>({
  name: "pause-backfill",
  sql: `update backfill set is_paused = $2, updated_at = now() where id = $1`,
});

/** The caller holds the dag and the backfill. */
export const cancelBackfillRow = defineStatement<readonly [id: number], never>({
  name: "cancel-backfill",
  sql: `
with dropped as (
  update backfill_dag_run set is_pending = false, exception_reason = 'cancelled' where backfill_id = $1 and is_pending
)
update backfill set is_paused = true, completed_at = now(), updated_at = now() where id = $1`,
});

/** What has not begun fails, what runs goes on. Locks: the queued runs, by id. */
export const cancelBackfillRuns = defineStatement<
  readonly [id: number, reason: string],
  { readonly id: number; readonly runId: string }
>({
  name: "cancel-backfill-runs",
  transitions: ["run queued>failed"],
  sql: `
with locked as (
  select id from dag_run where backfill_id = $1 and state = 'queued' order by id for no key update
)
update dag_run r set state = 'failed', state_reason = left($2, 250), end_date = now(), updated_at = now()
from locked l
where r.id = l.id
returning r.id, r.run_id as "runId"`,
});
