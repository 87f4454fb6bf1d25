// Which dags have queued runs that are due for a look, when thousands wait that could not start.
import type { Knex } from "knex";

export const name = "0022-runs-to-look-at";

export async function up(knex: Knex): Promise<void> {
  await knex.raw(
    `create index idx_dag_run_to_look_at on dag_run (dag_id, last_scheduling_decision nulls first) where state = 'queued' and backfill_id is null`,
  );
}
