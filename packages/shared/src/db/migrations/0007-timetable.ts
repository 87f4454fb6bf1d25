// Plans of schedules that are code of their DAG's file: one row for each DAG that has such a schedule.
import type { Knex } from "knex";

export const name = "0007-timetable";

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table timetable_plan (
  dag_id varchar(250) collate "C" primary key references dag (dag_id) on delete cascade,
  runs jsonb not null default '[]',
  manual jsonb not null default '[]',
  ended boolean not null default false,
  asked_until timestamptz,
  generation bigint not null default 1,
  failed_at timestamptz
)`);
}
