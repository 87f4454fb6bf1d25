// A run as a whole: marked success or failed with its tasks, queued again, or deleted.
import { AppError } from "../../errors/index.ts";
import { isFinished } from "../../model/index.ts";
import type { Database } from "../database.ts";
import type { DagVersions } from "../dag-versions.ts";
import { defineStatement } from "../statement.ts";
import { insertLog } from "../statements/insert-log.ts";
import { markRuns } from "../statements/mark-runs.ts";
import { withoutCallbacks } from "../statements/without-callbacks.ts";
import type { Operated } from "./clear-tasks.ts";
import { findTargets, type TargetTask } from "./find-targets.ts";
import { markTargets } from "./mark-tasks.ts";

export interface MarkRunRequest {
  readonly dagId: string;
  readonly runId: string;
  /** success, failed or queued. */
  readonly state: string;
  readonly runCallbacks?: boolean;
  readonly user: string;
}

/**
 * success: every task that has not ended well succeeds, teardowns still to run are left to run. failed: what runs is
 * stopped and fails, what has not begun is skipped, teardowns are left to run. queued: the run is scheduled again as its
 * tasks stand.
 * @throws AppError STATE_INVALID, DAG_NOT_FOUND or RUN_NOT_FOUND.
 */
export async function markRun(db: Database, versions: DagVersions, request: MarkRunRequest): Promise<Operated> {
  const { dagId, runId, state, user } = request;
  if (state !== "success" && state !== "failed" && state !== "queued") {
    throw new AppError("STATE_INVALID", { state, known: "success, failed, queued" });
  }
  return await db.transaction(
    async (tx) => {
      const targets = await findTargets(tx, versions, { dagId, runIds: [runId] }, true);
      const [run] = targets.runs;
      if (run === undefined) throw new AppError("RUN_NOT_FOUND", { dagId, runId });
      if (request.runCallbacks === false) await tx.run(withoutCallbacks, []);
      const graph = targets.graphs.get(run.versionId);
      const isTeardown = (task: TargetTask) => graph?.tasks.get(task.taskId)?.spec.isTeardown === true;
      const reason = `its run was marked ${state} by ${user}`;
      const stopped: string[] = [];
      let tasks: TargetTask[] = [];
      if (state === "success") {
        tasks = targets.tasks.filter(
          (task) => task.state !== "success" && (!isTeardown(task) || isFinished(task.state)),
        );
        stopped.push(...(await markTargets(tx, tasks, "success", reason)));
      } else if (state === "failed") {
        const open = targets.tasks.filter((task) => !isFinished(task.state) && !isTeardown(task));
        const begun = open.filter((task) => BEGUN.includes(task.state));
        const rest = open.filter((task) => !BEGUN.includes(task.state));
        tasks = open;
        stopped.push(
          ...(await markTargets(tx, begun, "failed", reason)),
          ...(await markTargets(tx, rest, "skipped", reason)),
        );
      }
      await tx.run(markRuns, [[run.id], state, `marked by ${user}`]);
      await tx.run(insertLog, [[`mark run ${state}`], [dagId], [null], [runId], [null], [null], [user], [null]]);
      return { tasks, stopped, dagRunIds: [run.id] };
    },
    { actor: user },
  );
}

const BEGUN: readonly string[] = ["running", "restarting", "shutdown", "deferred", "up_for_reschedule"];

const deleteRunRow = defineStatement<readonly [id: number], never>({
  name: "delete-run",
  sql: `delete from dag_run where id = $1`,
});

/** @throws AppError DAG_NOT_FOUND, RUN_NOT_FOUND or RUN_RUNNING. */
export async function deleteRun(
  db: Database,
  versions: DagVersions,
  request: Omit<MarkRunRequest, "state">,
): Promise<void> {
  const { dagId, runId, user } = request;
  await db.transaction(
    async (tx) => {
      const { runs } = await findTargets(tx, versions, { dagId, runIds: [runId] }, true);
      const [run] = runs;
      if (run === undefined) throw new AppError("RUN_NOT_FOUND", { dagId, runId });
      if (run.state === "running") throw new AppError("RUN_RUNNING", { dagId, runId });
      await tx.run(deleteRunRow, [run.id]);
      await tx.run(insertLog, [["delete run"], [dagId], [null], [runId], [null], [null], [user], [null]]);
    },
    { actor: user },
  );
}
