// A run that somebody marked failed while its teardowns have still to run goes on for them and then ends as it was marked.
import type { Knex } from "knex";

export const name = "0005-run-mark";

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table dag_run add column mark varchar(50)`);
}
