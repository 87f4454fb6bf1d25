// One scheduler at a time counts what is occupied and queues more. Held to the end of the transaction.
import { defineStatement } from "../statement.ts";

const CRITICAL_SECTION = 5_226_122;

export const lockCriticalSection = defineStatement<readonly [], never>({
  name: "lock-critical-section",
  sql: `select pg_advisory_xact_lock(${CRITICAL_SECTION})`,
});
