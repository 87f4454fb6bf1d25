// Callbacks of tasks and runs that are to be run: rows made by the guard in the transaction of the transition that causes
// them (db/callback-intents.ts), taken by workers. id, type, fetch_method, data, bundle_name, state, output,
// priority_weight, created_at and trigger_id are Airflow's; the rest is ours.
import type { Knex } from "knex";

const KEY = `varchar(250) collate "C"`;

export const name = "0004-callbacks";

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table callback (
  id uuid primary key default gen_random_uuid(),
  type varchar(20) not null default 'worker',
  fetch_method varchar(20) not null default 'artifact',
  data jsonb not null default '{}',
  bundle_name varchar(250),
  state varchar(10) not null default 'pending' check (state in ('pending', 'running', 'success', 'failed')),
  output text,
  priority_weight int not null default 1,
  created_at timestamptz not null default clock_timestamp(),
  trigger_id int references trigger (id),
  kind varchar(20) not null
    check (kind in ('onSuccess', 'onFailure', 'onRetry', 'onSkipped', 'dagOnSuccess', 'dagOnFailure')),
  dag_run_id bigint not null references dag_run (id) on delete cascade,
  ti_id uuid,
  task_id ${KEY},
  map_index int not null default -1,
  try_number int not null default 0,
  clear_number int not null default 0,
  artifact_hash varchar(64),
  attempts int not null default 0,
  lease_until timestamptz,
  worker_job_id int,
  check ((kind like 'dagOn%') = (ti_id is null)),
  check ((state = 'running') = (lease_until is not null))
);
-- One intent a kind for each attempt, and for each time that a run was cleared.
create unique index callback_ti_id_kind_uq on callback (ti_id, kind) where ti_id is not null;
create unique index callback_dag_run_id_kind_clear_number_uq on callback (dag_run_id, kind, clear_number)
  where ti_id is null;
create index idx_callback_open on callback (priority_weight desc, created_at) where state in ('pending', 'running');
create index idx_callback_dag_run_id on callback (dag_run_id);

-- Whether the end of a task instance in shutdown is to run its callbacks: who stopped it may have opted out.
alter table task_instance add column callbacks_wanted boolean not null default true;
`);
}
