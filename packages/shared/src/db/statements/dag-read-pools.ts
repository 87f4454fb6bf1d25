// The slots of pools by name; -1 is without a limit. A pool that does not exist is not among them.
import { defineStatement } from "../statement.ts";

export interface PoolSlots {
  readonly pool: string;
  readonly slots: number;
}

export const readPools = defineStatement<readonly [pools: readonly string[]], PoolSlots>({
  name: "dag-read-pools",
  sql: `select pool, slots from slot_pool where pool = any ($1)`,
});
