// The runs that deferred tasks wait for, with what those runs wait for themselves: the places of their DAG and who has them,
// and slots of the pool that the waiting task holds. One row for each waiting task and run that there is.
import type { RunState } from "../../model/index.ts";
import { defineStatement } from "../statement.ts";

export type ExplainAwaitedParams = readonly [
  /** The task instances that wait; parallel with the rest. */
  tiIds: readonly string[],
  dagIds: readonly string[],
  /** JSON arrays of text. */
  runIds: readonly string[],
  logicalDates: readonly string[],
];

export interface ExplainedAwaited {
  readonly tiId: string;
  readonly dagId: string;
  readonly runId: string;
  readonly state: RunState;
  readonly maxActiveRuns: number;
  /** Running runs of that DAG. */
  readonly running: readonly string[];
  /** A task of it is scheduled for the pool of the waiting one, which counts those that wait, and lacks the slots. */
  readonly lacksPool: string | null;
}

export const explainAwaited = defineStatement<ExplainAwaitedParams, ExplainedAwaited>({
  name: "explain-awaited",
  sql: `
select w.ti_id as "tiId", r.dag_id as "dagId", r.run_id as "runId", r.state, d.max_active_runs as "maxActiveRuns",
  array(select a.run_id from dag_run a where a.dag_id = r.dag_id and a.state = 'running' and a.run_type <> 'backfill'
    order by a.run_after, a.id) as running,
  (select p.pool from task_instance me
    join slot_pool p on p.pool = me.pool and p.include_deferred and p.slots >= 0
    join task_instance c on c.dag_id = r.dag_id and c.run_id = r.run_id and c.state = 'scheduled' and c.pool = p.pool
    where me.id = w.ti_id and p.slots < c.pool_slots + (select coalesce(sum(o.pool_slots), 0) from task_instance o
      where o.pool = p.pool and o.state in ('queued', 'running', 'restarting', 'shutdown', 'deferred'))
    limit 1) as "lacksPool"
from unnest($1::uuid[], $2::text[], $3::text[], $4::text[]) as w(ti_id, dag_id, run_ids, logical_dates)
join dag d on d.dag_id = w.dag_id
join dag_run r on r.dag_id = w.dag_id and (
  r.run_id in (select jsonb_array_elements_text(w.run_ids::jsonb))
  or r.logical_date in (select x::timestamptz from jsonb_array_elements_text(w.logical_dates::jsonb) as x))
order by r.run_after, r.id
limit 100`,
});
