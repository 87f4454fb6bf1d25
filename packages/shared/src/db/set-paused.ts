// Pausing stops the schedule and new tasks of a DAG; what runs goes on. One transaction with its line of the audit log.
import { AppError } from "../errors/index.ts";
import type { Database } from "./database.ts";
import { defineStatement } from "./statement.ts";
import { insertLog } from "./statements/insert-log.ts";

const pauseDag = defineStatement<readonly [dagId: string, paused: boolean], { readonly dagId: string }>({
  name: "pause-dag",
  sql: `update dag set is_paused = $2 where dag_id = $1 returning dag_id as "dagId"`,
});

/**
 * @param actor who asks, for the audit log
 * @throws AppError DAG_NOT_FOUND
 */
export async function setPaused(db: Database, dagId: string, paused: boolean, actor: string): Promise<void> {
  await db.transaction(
    async (tx) => {
      const [dag] = await tx.run(pauseDag, [dagId, paused]);
      if (dag === undefined) throw new AppError("DAG_NOT_FOUND", { dagId });
      const event = paused ? "pause_dag" : "unpause_dag";
      await tx.run(insertLog, [[event], [dagId], [null], [null], [null], [null], [actor], [null]]);
    },
    { actor },
  );
}
