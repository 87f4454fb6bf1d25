// The part of the guard that makes callback intents: one row a kind of callback for each attempt that a change of state
// ends, and for each verdict on a run, whoever made the change. A row without callbacks costs the test of a condition.
// A transaction that sets millrace.run_callbacks to off makes none.

const WANTED = `current_setting('millrace.run_callbacks', true) is distinct from 'off'`;

// Each statement reads its triggers' conditions anew, rows or none: they are short, and the functions ask the rest.
export const TASK_INTENTS_WHEN = `new.callbacks <> '{}' and new.state is distinct from old.state`;

/** The attempt is the one that ended: a retry has given the row a new id by now. */
export const TASK_INTENTS = `
  insert into callback (kind, dag_run_id, ti_id, task_id, map_index, try_number, priority_weight, bundle_name,
    artifact_hash, data)
  select k.kind, new.dag_run_id, old.id, new.task_id, new.map_index, new.try_number, new.priority_weight, v.bundle_name,
    v.artifact_hash,
    jsonb_build_object('versionId', new.dag_version_id, 'maxTries', new.max_tries, 'reason',
      -- A reason that was there before says nothing of a success, unless it is that of the stop that ended in it.
      case when k.kind in ('onFailure', 'onRetry') or old.state = 'shutdown' or new.state_reason is distinct from old.state_reason
        then new.state_reason end)
  from (select case new.state
    when 'failed' then 'onFailure'
    when 'success' then 'onSuccess'
    when 'up_for_retry' then 'onRetry'
    when 'skipped' then 'onSkipped' end) k(kind)
  left join dag_version v on v.id = new.dag_version_id
  where k.kind = any (new.callbacks) and ${WANTED}
    -- Handed back by a worker that stopped: nothing failed.
    and not (new.state = 'up_for_retry' and new.max_tries > old.max_tries and new.infra_failures = old.infra_failures)
    -- A trigger rule, a branch or the end of its run skipped it: it never ran.
    and (new.state <> 'skipped' or old.state in ('running', 'deferred', 'shutdown'))
    and (old.state is distinct from 'shutdown' or old.callbacks_wanted)
  on conflict do nothing;`;

export const RUN_INTENTS_WHEN = `new.callbacks <> '{}' and new.state <> old.state`;

/** The verdict's reason in Airflow's words; a state that was set by hand, however that is worded, is `marked`. */
export const RUN_INTENTS = `
  insert into callback (kind, dag_run_id, clear_number, bundle_name, artifact_hash, data)
  select case new.state when 'success' then 'dagOnSuccess' else 'dagOnFailure' end, new.id, new.clear_number, v.bundle_name,
    v.artifact_hash,
    jsonb_build_object('versionId', new.created_dag_version_id, 'reason',
      case when new.state_reason is distinct from old.state_reason
          and new.state_reason in ('success', 'task_failure', 'all_tasks_deadlocked', 'timed_out')
        then new.state_reason else 'marked' end)
  from (select) nothing
  left join dag_version v on v.id = new.created_dag_version_id
  where new.state in ('success', 'failed') and case new.state when 'success' then 'onSuccess' else 'onFailure' end = any (new.callbacks) and ${WANTED}
  on conflict do nothing;`;
