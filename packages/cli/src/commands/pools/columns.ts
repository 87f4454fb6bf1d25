import type { PoolRow } from "@millrace/shared/db";
import type { Column } from "../../output/format.ts";

const unlimited = (slots: number): string => (slots === -1 ? "unlimited" : String(slots));

export const POOL_COLUMNS: readonly Column<PoolRow>[] = [
  { key: "pool", value: (pool) => pool.pool },
  { key: "slots", value: (pool) => pool.slots, shown: (pool) => unlimited(pool.slots) },
  { key: "open_slots", value: (pool) => pool.openSlots, shown: (pool) => unlimited(pool.openSlots) },
  { key: "running_slots", value: (pool) => pool.runningSlots },
  { key: "queued_slots", value: (pool) => pool.queuedSlots },
  { key: "deferred_slots", value: (pool) => pool.deferredSlots, for: "programs" },
  {
    key: "include_deferred",
    value: (pool) => pool.includeDeferred,
    shown: (pool) => (pool.includeDeferred ? "yes" : "no"),
  },
  { key: "description", value: (pool) => pool.description },
];
