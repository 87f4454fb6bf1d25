// Mark: task instances get the state that somebody says. What a worker has is asked to stop and ends in that state. What
// failed downstream because of them is cleared, so that the run goes on from there.
import { HELD_TASK_STATES, type MapIndexes } from "../../model/index.ts";
import { AppError } from "../../errors/index.ts";
import type { Database, Queryable } from "../database.ts";
import type { DagVersions } from "../dag-versions.ts";
import { markAttempts } from "../statements/mark-attempts.ts";
import { stopAttempts } from "../statements/stop-attempts.ts";
import { withoutCallbacks } from "../statements/without-callbacks.ts";
import { clearTargets, type Operated } from "./clear-tasks.ts";
import { findTargets, type TargetSelection, type TargetTask } from "./find-targets.ts";
import { noteOperation } from "./note-operation.ts";
import { runsToLookAt } from "./runs-to-look-at.ts";

export const MARKS = ["success", "failed", "skipped"] as const;
export type Mark = (typeof MARKS)[number];

export interface MarkRequest extends TargetSelection {
  readonly state: string;
  /** Only what a worker has. */
  readonly onlyRunning?: boolean;
  /** Default true: the tasks' own callbacks run, as if they had ended so by themselves. */
  readonly runCallbacks?: boolean;
  readonly dryRun?: boolean;
  readonly user: string;
}

/** @throws AppError STATE_INVALID, DAG_NOT_FOUND, RUN_NOT_FOUND or TASK_NOT_FOUND. */
export async function markTasks(db: Database, versions: DagVersions, request: MarkRequest): Promise<Operated> {
  const state = readMark(request.state);
  const isMeant = (task: TargetTask) => task.state !== state && (request.onlyRunning !== true || isHeld(task));
  if (request.dryRun === true) {
    const { tasks } = await findTargets(db, versions, request, false);
    return { tasks: tasks.filter(isMeant), stopped: [], dagRunIds: [] };
  }
  return await db.transaction(
    async (tx) => {
      const targets = await findTargets(tx, versions, request, true);
      const tasks = targets.tasks.filter(isMeant);
      if (tasks.length === 0) return { tasks, stopped: [], dagRunIds: [] };
      if (request.runCallbacks === false) await tx.run(withoutCallbacks, []);
      const verb = request.onlyRunning === true ? "stopped" : `marked ${state}`;
      const stopped = await markTargets(tx, tasks, state, `${verb} by ${request.user}`);
      const cleared = await clearBehind(tx, versions, request, tasks, targets.tasks);
      await noteOperation(tx, { event: request.onlyRunning === true ? "stop" : `mark ${state}`, ...request }, tasks);
      const dagRunIds = await runsToLookAt(
        tx,
        tasks.map((task) => task.dagRunId),
      );
      return { tasks, stopped: [...stopped, ...cleared.stopped], dagRunIds };
    },
    { actor: request.user },
  );
}

/** What failed downstream of the marked tasks, in their runs, may go otherwise now; but for what was named itself. */
async function clearBehind(
  tx: Queryable,
  versions: DagVersions,
  request: MarkRequest,
  marked: readonly TargetTask[],
  named: readonly TargetTask[],
): Promise<Operated> {
  const { dagId, user } = request;
  const taskIds = [...new Set(marked.map((task) => task.taskId))];
  const runIds = [...new Set(marked.map((task) => task.runId))];
  const kept = new Set(named.map((task) => task.taskId));
  const mapIndexes = indexesOf(marked);
  const behind = await findTargets(tx, versions, { dagId, runIds, taskIds, mapIndexes, downstream: true }, true);
  const failed = behind.tasks.filter(
    (task) => (task.state === "failed" || task.state === "upstream_failed") && !kept.has(task.taskId),
  );
  return await clearTargets(tx, behind, failed, { user });
}

/** Of tasks that are expanded, those that are marked. */
function indexesOf(tasks: readonly TargetTask[]): MapIndexes {
  const found: Record<string, number[]> = {};
  for (const { taskId, mapIndex } of tasks) if (mapIndex >= 0) (found[taskId] ??= []).push(mapIndex);
  return found;
}

const isHeld = (task: TargetTask): boolean => (HELD_TASK_STATES as readonly string[]).includes(task.state);

/** Marks within the caller's transaction, which holds the runs and the task instances; gives the attempts that workers have to stop. */
export async function markTargets(
  tx: Queryable,
  tasks: readonly TargetTask[],
  state: Mark,
  reason: string,
): Promise<string[]> {
  const free = tasks.filter((task) => !isHeld(task));
  await tx.run(markAttempts, [
    free.map((task) => task.id),
    free.map((task) => task.epoch),
    free.map(() => state),
    free.map(() => reason),
  ]);
  const held = tasks.filter(isHeld);
  const stopped = await tx.run(stopAttempts, [
    held.map((task) => task.id),
    held.map(() => "shutdown"),
    held.map(() => state),
    held.map(() => reason),
  ]);
  return stopped.map((row) => row.id);
}

function readMark(state: string): Mark {
  const mark = MARKS.find((known) => known === state);
  if (mark === undefined) throw new AppError("STATE_INVALID", { state, known: MARKS.join(", ") });
  return mark;
}
