// The template fields of task instances as their last try had them, with Airflow's names.
import type { Knex } from "knex";

export const name = "0014-rendered-fields";

const KEY = `varchar(250) collate "C"`;

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table rendered_task_instance_fields (
  dag_id ${KEY} not null,
  task_id ${KEY} not null,
  run_id ${KEY} not null,
  map_index int not null default -1,
  rendered_fields json not null,
  k8s_pod_yaml json,
  primary key (dag_id, task_id, run_id, map_index),
  foreign key (dag_id, run_id, task_id, map_index)
    references task_instance (dag_id, run_id, task_id, map_index) on delete cascade on update cascade
);
-- The order in which the foreign key deletes: of one run.
create index idx_rendered_fields_run on rendered_task_instance_fields (dag_id, run_id);`);
}
