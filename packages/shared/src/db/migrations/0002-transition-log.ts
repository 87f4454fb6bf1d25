// The append-only record of every change of state. The triggers that fill and guard it are made from the model's
// transition tables after each migration: see db/guard.ts.
import type { Knex } from "knex";

export const name = "0002-transition-log";

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table task_instance_transition (
  row_id bigint not null,
  epoch int not null,
  ti_id uuid not null,
  from_state varchar(20),
  to_state varchar(20),
  try_number int not null,
  actor varchar(200) not null,
  at timestamptz not null default clock_timestamp(),
  primary key (row_id, epoch)
);
create table dag_run_transition (
  id bigint generated always as identity primary key,
  dag_run_id bigint not null,
  from_state varchar(50) not null,
  to_state varchar(50) not null,
  actor varchar(200) not null,
  at timestamptz not null default clock_timestamp()
);
create index idx_dag_run_transition_dag_run_id on dag_run_transition (dag_run_id);

create function millrace_refuse(message text) returns varchar language plpgsql as $$
begin
  raise exception using errcode = 'MR001', message = message;
end $$;

create function millrace_log_is_append_only() returns trigger language plpgsql as $$
begin
  raise exception using errcode = 'MR002', message = format('%s is append-only: %s is refused', tg_table_name, tg_op);
end $$;
create trigger append_only before update or delete or truncate on task_instance_transition
  for each statement execute function millrace_log_is_append_only();
create trigger append_only before update or delete or truncate on dag_run_transition
  for each statement execute function millrace_log_is_append_only();
`);
}
