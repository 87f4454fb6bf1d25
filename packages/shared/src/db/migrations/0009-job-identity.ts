// Whose row it is: after a restore from a backup two processes may believe in one id, and only one of them is right. And
// when a worker's queue last answered, since one that lives and takes nothing is of no use.
import type { Knex } from "knex";

export const name = "0009-job-identity";

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table job add column identity uuid, add column last_poll timestamptz`);
}
