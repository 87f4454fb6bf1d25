// A run as a whole: marked success or failed with its tasks, queued again, or deleted.
import { AppError } from "../../errors/index.ts";
import { HELD_TASK_STATES, isFinished } from "../../model/index.ts";
import type { Database } from "../database.ts";
import type { DagVersions } from "../dag-versions.ts";
import { defineStatement } from "../statement.ts";
import { markRuns, wishRun } from "../statements/mark-runs.ts";
import { withoutCallbacks } from "../statements/without-callbacks.ts";
import type { Operated } from "./clear-tasks.ts";
import { findTargets, type TargetTask } from "./find-targets.ts";
import { markTargets, type Mark } from "./mark-tasks.ts";
import { noteOperation } from "./note-operation.ts";
import { runsToLookAt } from "./runs-to-look-at.ts";

export interface MarkRunRequest {
  readonly dagId: string;
  readonly runId: string;
  /** success, failed or queued. */
  readonly state: string;
  readonly runCallbacks?: boolean;
  readonly user: string;
}

/**
 * success: every task that has not ended well succeeds. failed: what runs is stopped and fails, what has not begun is
 * skipped. Teardowns are left to run, and then a run that was still active ends with them. queued: the run is scheduled
 * again as its tasks stand.
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
      const { tasks, marks } = marksOf(state, targets.tasks, isTeardown);
      const reason = `its run was marked ${state} by ${user}`;
      const stopped: string[] = [];
      for (const [mark, marked] of marks) stopped.push(...(await markTargets(tx, marked, mark, reason)));
      // A run that has ended is not looked at again: its teardowns would never run.
      const goesOn =
        state !== "queued" &&
        (run.state === "queued" || run.state === "running") &&
        targets.tasks.some((task) => isTeardown(task) && !isFinished(task.state));
      if (!goesOn) await tx.run(markRuns, [[run.id], state, `marked by ${user}`]);
      else await tx.run(wishRun, [run.id, state === "failed" ? "failed" : null, `marked by ${user}`]);
      await noteOperation(tx, { event: `mark run ${state}`, dagId, runId, user }, tasks);
      return { tasks, stopped, dagRunIds: await runsToLookAt(tx, [run.id]) };
    },
    { actor: user },
  );
}

function marksOf(
  state: "success" | "failed" | "queued",
  all: readonly TargetTask[],
  isTeardown: (task: TargetTask) => boolean,
): { readonly tasks: readonly TargetTask[]; readonly marks: readonly (readonly [Mark, readonly TargetTask[]])[] } {
  if (state === "queued") return { tasks: [], marks: [] };
  if (state === "success") {
    const tasks = all.filter((task) => task.state !== "success" && (!isTeardown(task) || isFinished(task.state)));
    return { tasks, marks: [["success", tasks]] };
  }
  const tasks = all.filter((task) => !isFinished(task.state) && !isTeardown(task));
  const hasBegun = (task: TargetTask) => BEGUN.includes(task.state);
  return {
    tasks,
    marks: [
      ["failed", tasks.filter(hasBegun)],
      ["skipped", tasks.filter((task) => !hasBegun(task))],
    ],
  };
}

const BEGUN: readonly string[] = ["running", "restarting", "shutdown", "deferred", "up_for_reschedule"];

const deleteRunRow = defineStatement<readonly [id: number], never>({
  name: "delete-run",
  sql: `delete from dag_run where id = $1`,
});

/**
 * With its task instances, their history and values. Attempts that workers still have are given back to be stopped.
 * @throws AppError DAG_NOT_FOUND, RUN_NOT_FOUND or RUN_RUNNING.
 */
export async function deleteRun(
  db: Database,
  versions: DagVersions,
  request: Omit<MarkRunRequest, "state">,
): Promise<Operated> {
  const { dagId, runId, user } = request;
  return await db.transaction(
    async (tx) => {
      const { runs, tasks } = await findTargets(tx, versions, { dagId, runIds: [runId] }, true);
      const [run] = runs;
      if (run === undefined) throw new AppError("RUN_NOT_FOUND", { dagId, runId });
      if (run.state === "running") throw new AppError("RUN_RUNNING", { dagId, runId });
      await tx.run(deleteRunRow, [run.id]);
      await noteOperation(tx, { event: "delete run", dagId, runId, user }, []);
      const held = tasks.filter((task) => (HELD_TASK_STATES as readonly string[]).includes(task.state));
      return { tasks, stopped: held.map((task) => task.id), dagRunIds: [] };
    },
    { actor: user },
  );
}
