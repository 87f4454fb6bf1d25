// What an earlier attempt kept while it waited is read by nobody and may be secret: the history is without it.
import type { Knex } from "knex";

export const name = "0019-waits-in-history";

export async function up(knex: Knex): Promise<void> {
  await knex.raw("update task_instance_history set next_kwargs = null where next_kwargs is not null");
}
