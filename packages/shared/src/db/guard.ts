// The guard behind the state machine: Postgres refuses a change of state that the model's tables do not hold, or that
// does not raise the epoch by one, and writes each accepted one to the append-only log, in the same transaction, with the
// callback intents that follow from it.
// The log is written by triggers of statements with transition tables: about 150 µs a statement and 6 a row, where a
// trigger of rows costs 25 a row; most of it is the insert itself and its index. Nothing is known of the size of those
// tables, and a session keeps the plan of its first, small change; a full join, which never loops over one table for each
// row of the other, keeps 1,000 rows at 25 ms instead of 220, and shows a row whose key was changed. What a refusal says is
// put together by a function that an accepted change does not call.
// Callback intents are made by triggers of rows with a condition: even a test that finds none cost a statement as much
// again. The condition is read anew by each statement, which costs 10 to 30 µs as it is short or long.
import { RUN_EDGES, TASK_EDGES } from "../model/index.ts";
import { RUN_INTENTS, RUN_INTENTS_WHEN, TASK_INTENTS, TASK_INTENTS_WHEN } from "./callback-intents.ts";

const array = (edges: ReadonlySet<string>): string =>
  `array[${[...edges]
    .sort()
    .map((e) => `'${e}'`)
    .join(", ")}]`;

const isEdge = (from: string, to: string): string =>
  `(coalesce(${from}, 'none') || '>' || coalesce(${to}, 'none')) = any (${array(TASK_EDGES)})`;

/** Made anew after each migration: the tables of transitions are code, and this is their image in Postgres. */
export const guardSql = (): string => `
create or replace function millrace_actor() returns varchar language sql stable as $$
  select left(coalesce(nullif(current_setting('millrace.actor', true), ''), nullif(current_setting('application_name'), ''), session_user), 200)
$$;

create or replace function millrace_refuse_task(dag varchar, task varchar, run varchar, from_state varchar, to_state varchar, from_epoch int, to_epoch int)
returns varchar language plpgsql as $$
begin
  if from_epoch is null or to_epoch is null then
    return millrace_refuse(format('task instance %s.%s of run %s: its row_id is the key of its history and stays', dag, task, run));
  end if;
  if to_epoch = from_epoch + 1 or from_state is distinct from to_state and not ${isEdge("from_state", "to_state")} then
    return millrace_refuse(format('task instance %s.%s of run %s cannot go from %s to %s',
      dag, task, run, coalesce(from_state, 'none'), coalesce(to_state, 'none')));
  end if;
  return millrace_refuse(format('task instance %s.%s of run %s: a change of state, attempt or owner raises the epoch by one, not from %s to %s',
    dag, task, run, from_epoch, to_epoch));
end $$;

create or replace function millrace_guard_task_instance() returns trigger language plpgsql as $$
begin
  insert into task_instance_transition (row_id, epoch, ti_id, from_state, to_state, try_number, actor)
  select n.row_id, n.epoch, n.id, o.state, n.state, n.try_number,
    case
      when n.epoch = o.epoch + 1 and (n.state is not distinct from o.state or ${isEdge("o.state", "n.state")})
        then millrace_actor()
      else millrace_refuse_task(n.dag_id, n.task_id, n.run_id, o.state, n.state, o.epoch, n.epoch)
    end
  from new_rows n full join old_rows o using (row_id)
  where n.state is distinct from o.state or n.epoch is distinct from o.epoch or n.id <> o.id;
  return null;
end $$;
drop trigger if exists guard on task_instance;
create trigger guard after update on task_instance
  referencing old table as old_rows new table as new_rows
  for each statement execute function millrace_guard_task_instance();

create or replace function millrace_intend_task_callbacks() returns trigger language plpgsql as $$
begin${TASK_INTENTS}
  return null;
end $$;
drop trigger if exists intend_callbacks on task_instance;
create trigger intend_callbacks after update on task_instance for each row
  when (${TASK_INTENTS_WHEN})
  execute function millrace_intend_task_callbacks();

create or replace function millrace_guard_dag_run() returns trigger language plpgsql as $$
begin
  insert into dag_run_transition (dag_run_id, from_state, to_state, actor)
  select n.id, o.state, n.state,
    case
      when not (o.state || '>' || n.state) = any (${array(RUN_EDGES)})
        then millrace_refuse(format('run %s of %s cannot go from %s to %s', n.run_id, n.dag_id, o.state, n.state))
      else millrace_actor()
    end
  from new_rows n full join old_rows o using (id)
  where n.state <> o.state;
  return null;
end $$;
drop trigger if exists guard on dag_run;
create trigger guard after update on dag_run
  referencing old table as old_rows new table as new_rows
  for each statement execute function millrace_guard_dag_run();

create or replace function millrace_intend_run_callbacks() returns trigger language plpgsql as $$
begin${RUN_INTENTS}
  return null;
end $$;
drop trigger if exists intend_callbacks on dag_run;
create trigger intend_callbacks after update on dag_run for each row
  when (${RUN_INTENTS_WHEN})
  execute function millrace_intend_run_callbacks();
`;
