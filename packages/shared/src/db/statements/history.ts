// How an earlier attempt is kept, shared by the statements that give a task instance a new attempt. They lock the row
// first (`locked`), so that the copy and the change see the same row.
export const HISTORY_COLUMNS = `task_instance_id, task_id, dag_id, run_id, map_index, try_number, epoch, start_date, end_date, duration,
  state, max_tries, hostname, unixname, pid, pool, pool_slots, queue, priority_weight, operator, task_display_name,
  queued_dttm, scheduled_dttm, queued_by_job_id, rendered_map_index, trigger_id, next_method, dag_version_id`;

/** @param state what the attempt ended as, an SQL expression over `locked` */
export const historyOf = (
  state: string,
): string => `l.id, l.task_id, l.dag_id, l.run_id, l.map_index, l.try_number, l.epoch,
  l.start_date, coalesce(l.end_date, now()), extract(epoch from coalesce(l.end_date, now()) - l.start_date), ${state}, l.max_tries,
  l.hostname, l.unixname, l.pid, l.pool, l.pool_slots, l.queue, l.priority_weight, l.operator, l.task_display_name,
  l.queued_dttm, l.scheduled_dttm, l.queued_by_job_id, l.rendered_map_index, l.trigger_id, l.next_method, l.dag_version_id`;

export const KEEP_HISTORY = `insert into task_instance_history (${HISTORY_COLUMNS})`;

/** The last statement of a history CTE: an attempt that is there already (its try was kept when it ended) stays. */
export const ONCE = `on conflict (dag_id, run_id, task_id, map_index, try_number) do nothing`;

/** What a wait leaves behind goes with it: a CTE over `locked`, which has the rows' `trigger_id`. */
export const DROP_TRIGGERS = `dropped as (delete from trigger t using locked d where t.id = d.trigger_id)`;

/** What a new attempt starts without. */
export const FRESH_ATTEMPT = `start_token = null, latest_heartbeat = null, hostname = null, unixname = null, pid = null,
    worker_job_id = null, queued_dttm = null, queued_by_job_id = null, scheduled_dttm = null, branch_decision = null,
    mark = null,
    external_executor_id = null, trigger_id = null, trigger_timeout = null`;

/** What a new attempt that begins its work anew starts without, too. */
export const FRESH_START = `${FRESH_ATTEMPT}, next_method = null, next_kwargs = null`;
