// A run that a task starts. The run remembers the attempt that asked for it, so that the attempt finds its own run when it
// asks again, after a lost answer or with another worker.
import type { TriggerDagRunRequest, TriggeredDagRun } from "@millrace/sdk/runtime";
import { AppError } from "../errors/index.ts";
import type { DagVersions } from "./dag-versions.ts";
import type { Database } from "./database.ts";
import { clearTasks } from "./operations/clear-tasks.ts";
import { defineStatement } from "./statement.ts";
import { triggerRun } from "./trigger-run.ts";

export interface AskingAttempt {
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
  readonly tryNumber: number;
}

export interface TriggeredForTask extends TriggeredDagRun {
  /** For the broker. */
  readonly dagRunIds: readonly number[];
  readonly stopped: readonly string[];
}

const readIsPaused = defineStatement<readonly [dagId: string], { readonly isPaused: boolean }>({
  name: "read-is-paused",
  sql: `select is_paused as "isPaused" from dag where dag_id = $1`,
});

const readAsker = defineStatement<
  readonly [dagId: string, runId: string],
  { readonly id: number; readonly user: string | null }
>({
  name: "read-asker",
  sql: `select id, triggering_user_name as "user" from dag_run where dag_id = $1 and run_id = $2`,
});

/** @throws AppError DAG_PAUSED, or as triggerRun except RUN_EXISTS. */
export async function triggerRunForTask(
  db: Database,
  versions: DagVersions,
  request: TriggerDagRunRequest,
  attempt: AskingAttempt,
): Promise<TriggeredForTask> {
  const { dagId } = request;
  const asker = [attempt.dagId, attempt.runId, attempt.taskId, attempt.mapIndex, attempt.tryNumber].join("/");
  if (request.failWhenDagIsPaused === true && (await db.run(readIsPaused, [dagId]))[0]?.isPaused === true) {
    throw new AppError("DAG_PAUSED", { dagId });
  }
  try {
    const run = await triggerRun(db, versions, {
      dagId,
      runId: request.runId,
      logicalDate: typeof request.logicalDate === "string" ? new Date(request.logicalDate) : request.logicalDate,
      conf: request.conf,
      note: request.note,
      triggeredBy: "operator",
      user: asker.slice(0, 512),
    });
    return { dagId, runId: run.runId, outcome: "created", dagRunIds: [run.id], stopped: [] };
  } catch (error) {
    if (!(error instanceof AppError) || error.code !== "RUN_EXISTS" || request.runId === undefined) throw error;
  }
  const { runId } = request;
  const [there] = await db.run(readAsker, [dagId, runId]);
  if (there === undefined) throw new AppError("RUN_NOT_FOUND", { dagId, runId });
  if (there.user === asker.slice(0, 512)) {
    return { dagId, runId, outcome: "created", dagRunIds: [there.id], stopped: [] };
  }
  if (request.resetDagRun !== true) return { dagId, runId, outcome: "exists", dagRunIds: [], stopped: [] };
  const cleared = await clearTasks(db, versions, { dagId, runIds: [runId], user: asker.slice(0, 500) });
  return { dagId, runId, outcome: "reset", dagRunIds: cleared.dagRunIds, stopped: cleared.stopped };
}
