// Connections as Airflow names their columns. Passwords and extras are ciphertexts once there is a key, like the values of
// variables.
import type { Knex } from "knex";

export const name = "0011-connections";

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
create table connection (
  id serial primary key,
  conn_id varchar(250) collate "C" unique not null,
  conn_type varchar(500) not null,
  description text,
  host varchar(500),
  schema varchar(500),
  login text,
  password text,
  port int,
  is_encrypted boolean not null default false,
  is_extra_encrypted boolean not null default false,
  extra text
)`);
}
