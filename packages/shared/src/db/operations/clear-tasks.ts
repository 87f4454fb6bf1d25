// Clear: task instances start afresh, their earlier attempts go to the history, their finished runs are queued again.
// What a worker has is asked to stop, and starts afresh when its process is gone.
import { AppError } from "../../errors/index.ts";
import { HELD_TASK_STATES } from "../../model/index.ts";
import type { Database, Queryable } from "../database.ts";
import type { DagVersions } from "../dag-versions.ts";
import { newId } from "../new-id.ts";
import { clearAttempts } from "../statements/clear-attempts.ts";
import { requeueRuns } from "../statements/requeue-runs.ts";
import { stopAttempts } from "../statements/stop-attempts.ts";
import { moveToNewest } from "./move-to-newest.ts";
import { findTargets, type TargetSelection, type TargetTask, type Targets } from "./find-targets.ts";
import { followMarkers, type Found } from "./follow-markers.ts";
import { noteOperation } from "./note-operation.ts";
import { runsToLookAt } from "./runs-to-look-at.ts";

export interface ClearRequest extends TargetSelection {
  /** Only failed and upstream_failed. */
  readonly onlyFailed?: boolean;
  /** Only what a worker has. */
  readonly onlyRunning?: boolean;
  /** Refuse when a worker has one of them. */
  readonly preventRunningTask?: boolean;
  /** Default true: finished runs are queued again. */
  readonly resetDagRuns?: boolean;
  /** The runs go on with the DAG's newest version. Default: with the one that they began with. */
  readonly runOnLatestVersion?: boolean;
  /** Follows markers of external tasks into the DAGs that wait for these. */
  readonly recursive?: boolean;
  readonly dryRun?: boolean;
  readonly user: string;
}

export interface Operated {
  /** What was changed, or would be: as it was before. */
  readonly tasks: readonly TargetTask[];
  /** Attempts that workers have to stop, for the broker's signal. */
  readonly stopped: readonly string[];
  /** Runs to be looked at, for the broker's wake. */
  readonly dagRunIds: readonly number[];
}

/** @throws AppError DAG_NOT_FOUND, RUN_NOT_FOUND, TASK_NOT_FOUND or TASK_RUNNING. */
export async function clearTasks(db: Database, versions: DagVersions, request: ClearRequest): Promise<Operated> {
  if (request.dryRun === true) {
    const found = await findAll(db, versions, request, false, (targets) => Promise.resolve(targets));
    return { tasks: tasksOf(found), stopped: [], dagRunIds: [] };
  }
  return await db.transaction(
    async (tx) => {
      const found = await findAll(tx, versions, request, true, async (targets) =>
        request.runOnLatestVersion === true ? await moveToNewest(tx, targets) : targets,
      );
      const stopped: string[] = [];
      for (const { targets, tasks } of found) {
        stopped.push(...(await clearTargets(tx, targets, tasks, request)).stopped);
        const [{ dagId } = request] = tasks;
        if (tasks.length > 0) await noteOperation(tx, { event: "clear", dagId, user: request.user }, tasks);
      }
      const tasks = tasksOf(found);
      return { tasks, stopped, dagRunIds: await runsToLookAt(tx, [...new Set(tasks.map((task) => task.dagRunId))]) };
    },
    { actor: request.user },
  );
}

const tasksOf = (found: readonly Found[]): TargetTask[] => found.flatMap(({ tasks }) => tasks);

async function findAll(
  tx: Queryable,
  versions: DagVersions,
  request: ClearRequest,
  lock: boolean,
  moved: (targets: Targets) => Promise<Targets>,
): Promise<readonly Found[]> {
  const targets = await moved(await findTargets(tx, versions, request, lock));
  const first = { targets, tasks: tasksToClear(targets, request) };
  if (request.recursive !== true) return [first];
  return await followMarkers(tx, versions, first, lock, (other) => tasksToClear(other, request));
}

const isHeld = (task: TargetTask): boolean => (HELD_TASK_STATES as readonly string[]).includes(task.state);

function tasksToClear({ tasks }: Targets, request: ClearRequest): TargetTask[] {
  const found = tasks.filter(
    (task) =>
      (request.onlyFailed !== true || task.state === "failed" || task.state === "upstream_failed") &&
      (request.onlyRunning !== true || isHeld(task)),
  );
  const running = found.find(isHeld);
  if (request.preventRunningTask === true && running !== undefined) {
    throw new AppError("TASK_RUNNING", { taskId: running.taskId, runId: running.runId, state: running.state });
  }
  return found;
}

/** Clears within the caller's transaction, which holds the runs and the task instances. */
export async function clearTargets(
  tx: Queryable,
  { graphs, runs }: Targets,
  tasks: readonly TargetTask[],
  { resetDagRuns = true, user }: Pick<ClearRequest, "resetDagRuns" | "user">,
): Promise<Operated> {
  const versionOf = new Map(runs.map((run) => [run.id, run.versionId]));
  const retriesOf = (task: TargetTask) =>
    graphs.get(versionOf.get(task.dagRunId) ?? "")?.tasks.get(task.taskId)?.spec.retries ?? 0;
  const dagRunIds = [...new Set(tasks.map((task) => task.dagRunId))].sort((a, b) => a - b);
  if (dagRunIds.length === 0) return { tasks, stopped: [], dagRunIds };
  if (resetDagRuns) await tx.run(requeueRuns, [dagRunIds]);
  const free = tasks.filter((task) => !isHeld(task) && task.state !== "none");
  await tx.run(clearAttempts, [
    free.map((task) => task.id),
    free.map((task) => task.epoch),
    free.map(() => newId()),
    free.map(retriesOf),
  ]);
  const held = tasks.filter(isHeld);
  const stopped = await tx.run(stopAttempts, [
    held.map((task) => task.id),
    held.map(() => "restarting"),
    held.map(() => null),
    held.map(() => `cleared by ${user}`),
  ]);
  return { tasks, stopped: stopped.map((row) => row.id), dagRunIds };
}
