// The part of the guard that makes callback intents: one row a kind of callback for each attempt that a change of state
// ends, and for each verdict on a run, whoever made the change. Rows without callbacks cost one test of an array.
// A transaction that sets millrace.run_callbacks to off makes none.

const WANTED = `current_setting('millrace.run_callbacks', true) is distinct from 'off'`;

/** The attempt is the one that ended: a retry has given the row a new id by now. */
export const TASK_INTENTS = `
  if exists (select from new_rows where callbacks <> '{}' and state in ('success', 'failed', 'skipped', 'up_for_retry'))
    and ${WANTED} then
    insert into callback (kind, dag_run_id, ti_id, task_id, map_index, try_number, priority_weight, bundle_name,
      artifact_hash, data)
    select k.kind, n.dag_run_id, o.id, n.task_id, n.map_index, n.try_number, n.priority_weight, v.bundle_name,
      v.artifact_hash,
      jsonb_build_object('versionId', n.dag_version_id, 'maxTries', n.max_tries, 'reason',
        -- A reason that was there before says nothing of a success, unless it is that of the stop that ended in it.
        case when k.kind in ('onFailure', 'onRetry') or o.state = 'shutdown' or n.state_reason is distinct from o.state_reason
          then n.state_reason end)
    from new_rows n
    join old_rows o using (row_id)
    cross join lateral (select case n.state
      when 'failed' then 'onFailure'
      when 'success' then 'onSuccess'
      when 'up_for_retry' then 'onRetry'
      when 'skipped' then 'onSkipped' end) k(kind)
    left join dag_version v on v.id = n.dag_version_id
    where n.callbacks <> '{}' and n.state is distinct from o.state and k.kind = any (n.callbacks)
      -- Handed back by a worker that stopped: nothing failed.
      and not (n.state = 'up_for_retry' and n.max_tries > o.max_tries and n.infra_failures = o.infra_failures)
      -- A trigger rule, a branch or the end of its run skipped it: it never ran.
      and (n.state <> 'skipped' or o.state in ('running', 'shutdown'))
      and (o.state is distinct from 'shutdown' or o.callbacks_wanted)
    on conflict do nothing;
  end if;`;

/** The verdict's reason in Airflow's words; a state that was set by hand, however that is worded, is `marked`. */
export const RUN_INTENTS = `
  if exists (select from new_rows where callbacks <> '{}' and state in ('success', 'failed')) and ${WANTED} then
    insert into callback (kind, dag_run_id, clear_number, bundle_name, artifact_hash, data)
    select case n.state when 'success' then 'dagOnSuccess' else 'dagOnFailure' end, n.id, n.clear_number, v.bundle_name,
      v.artifact_hash,
      jsonb_build_object('versionId', n.created_dag_version_id, 'reason',
        case when n.state_reason is distinct from o.state_reason
            and n.state_reason in ('success', 'task_failure', 'all_tasks_deadlocked', 'timed_out')
          then n.state_reason else 'marked' end)
    from new_rows n
    join old_rows o using (id)
    left join dag_version v on v.id = n.created_dag_version_id
    where n.callbacks <> '{}' and n.state <> o.state
      and case n.state when 'success' then 'onSuccess' when 'failed' then 'onFailure' end = any (n.callbacks)
    on conflict do nothing;
  end if;`;
