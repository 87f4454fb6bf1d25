// Backfills of DAGs whose schedule is code of their file: the row comes first, and its dates when the dag-processor has
// asked that code. What it failed with ends the backfill.
import type { Knex } from "knex";

export const name = "0016-backfill-plan";

export async function up(knex: Knex): Promise<void> {
  await knex.raw(`
alter table backfill add column is_planned boolean not null default true, add column plan_error text;
create index idx_backfill_to_plan on backfill (id) where not is_planned and completed_at is null;
`);
}
