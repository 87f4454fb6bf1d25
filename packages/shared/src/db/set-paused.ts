// While a DAG is paused no run of it is created or started; running runs go on to their end. One transaction with its line of the audit log.
import { AppError } from "../errors/index.ts";
import type { Database } from "./database.ts";
import { replanDags } from "./plan-dag.ts";
import { defineStatement } from "./statement.ts";
import { insertLog } from "./statements/insert-log.ts";

const lockDagToPause = defineStatement<readonly [dagId: string], { readonly isPaused: boolean }>({
  name: "lock-dag-to-pause",
  sql: `select is_paused as "isPaused" from dag where dag_id = $1 for no key update`,
});

const pauseDag = defineStatement<readonly [dagId: string, paused: boolean], never>({
  name: "pause-dag",
  sql: `update dag set is_paused = $2 where dag_id = $1`,
});

/**
 * The caller wakes the schedulers after an unpause.
 * @param actor who asks, for the audit log
 * @throws AppError DAG_NOT_FOUND
 */
export async function setPaused(db: Database, dagId: string, paused: boolean, actor: string): Promise<void> {
  await db.transaction(
    async (tx) => {
      const [dag] = await tx.run(lockDagToPause, [dagId]);
      if (dag === undefined) throw new AppError("DAG_NOT_FOUND", { dagId });
      // Only a DAG that was paused: planning anew skips what a running schedule still owes.
      if (!paused && dag.isPaused) await replanDags(tx, [dagId]);
      await tx.run(pauseDag, [dagId, paused]);
      const event = paused ? "pause_dag" : "unpause_dag";
      await tx.run(insertLog, [[event], [dagId], [null], [null], [null], [null], [actor], [null]]);
    },
    { actor },
  );
}
