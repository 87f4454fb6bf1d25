// What a triggerer has, as Postgres sees it. Index: idx_trigger_triggerer_id.
import { defineStatement } from "../statement.ts";

/** Every trigger of a triggerer, in pages by id. */
export const heldTriggers = defineStatement<
  readonly [triggererJobId: number, afterId: number, limit: number],
  { readonly id: number }
>({
  name: "held-triggers",
  sql: `select id from trigger where triggerer_id = $1 and id > $2 order by id limit $3`,
});

/** Those of `ids` that are still this triggerer's. */
export const stillHeld = defineStatement<
  readonly [triggererJobId: number, ids: readonly number[]],
  { readonly id: number }
>({
  name: "still-held-triggers",
  sql: `select id from trigger where id = any ($2::int[]) and triggerer_id = $1`,
});
