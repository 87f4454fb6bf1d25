// A callback's trigger is looked up by nobody, and the key between them cost a scan of all callbacks for each trigger that
// went.
import type { Knex } from "knex";

export const name = "0013-callback-trigger";

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`alter table callback drop constraint if exists callback_trigger_id_fkey`);
}
