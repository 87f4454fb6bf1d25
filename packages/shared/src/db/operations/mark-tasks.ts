// Mark: task instances get the state that somebody says. What a worker has is asked to stop and ends in that state. What
// failed downstream because of them is cleared, so that the run goes on from there.
import { HELD_TASK_STATES, selectTasks } from "../../model/index.ts";
import { AppError } from "../../errors/index.ts";
import type { Database, Queryable } from "../database.ts";
import type { DagVersions } from "../dag-versions.ts";
import { insertLog } from "../statements/insert-log.ts";
import { markAttempts } from "../statements/mark-attempts.ts";
import { stopAttempts } from "../statements/stop-attempts.ts";
import { withoutCallbacks } from "../statements/without-callbacks.ts";
import { clearTargets, type Operated } from "./clear-tasks.ts";
import { findTargets, type TargetSelection, type TargetTask } from "./find-targets.ts";

export const MARKS = ["success", "failed", "skipped"] as const;
export type Mark = (typeof MARKS)[number];

export interface MarkRequest extends TargetSelection {
  readonly state: string;
  /** Default true: the tasks' own callbacks run, as if they had ended so by themselves. */
  readonly runCallbacks?: boolean;
  readonly dryRun?: boolean;
  readonly user: string;
}

/** @throws AppError STATE_INVALID, DAG_NOT_FOUND, RUN_NOT_FOUND or TASK_NOT_FOUND. */
export async function markTasks(db: Database, versions: DagVersions, request: MarkRequest): Promise<Operated> {
  const state = readMark(request.state);
  if (request.dryRun === true) {
    const { tasks } = await findTargets(db, versions, request, false);
    return { tasks: tasks.filter((task) => task.state !== state), stopped: [], dagRunIds: [] };
  }
  return await db.transaction(
    async (tx) => {
      const targets = await findTargets(tx, versions, request, true);
      const tasks = targets.tasks.filter((task) => task.state !== state);
      if (request.runCallbacks === false) await tx.run(withoutCallbacks, []);
      const stopped = await markTargets(tx, tasks, state, `marked ${state} by ${request.user}`);
      const marked = new Set(targets.tasks.map((task) => `${task.dagRunId} ${task.taskId} ${task.mapIndex}`));
      const after = await findTargets(tx, versions, { ...request, ...downstreamOf(targets.graphs, request) }, true);
      const failed = after.tasks.filter(
        (task) =>
          (task.state === "failed" || task.state === "upstream_failed") &&
          !marked.has(`${task.dagRunId} ${task.taskId} ${task.mapIndex}`),
      );
      const cleared = state === "failed" ? undefined : await clearTargets(tx, after, failed, request);
      await note(tx, request, tasks, state);
      const dagRunIds = [...new Set(tasks.map((task) => task.dagRunId))];
      return { tasks, stopped: [...stopped, ...(cleared?.stopped ?? [])], dagRunIds };
    },
    { actor: request.user },
  );
}

/** Everything downstream of what is marked, the marked left out. */
function downstreamOf(graphs: ReadonlyMap<string, Parameters<typeof selectTasks>[0]>, request: MarkRequest) {
  const ids = new Set(
    [...graphs.values()].flatMap((graph) => [...selectTasks(graph, { ...request, downstream: true })]),
  );
  return { taskIds: [...ids], upstream: false, downstream: false };
}

/** Marks within the caller's transaction, which holds the runs; gives the attempts that workers have to stop. */
export async function markTargets(
  tx: Queryable,
  tasks: readonly TargetTask[],
  state: Mark,
  reason: string,
): Promise<string[]> {
  const isHeld = (task: TargetTask) => (HELD_TASK_STATES as readonly string[]).includes(task.state);
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

async function note(tx: Queryable, request: MarkRequest, tasks: readonly TargetTask[], state: Mark): Promise<void> {
  const ids = tasks.map((task) => `${task.runId}: ${task.taskId}`).join(", ");
  await tx.run(insertLog, [
    [`mark ${state}`],
    [request.dagId],
    [null],
    [null],
    [null],
    [null],
    [request.user],
    [ids.slice(0, 10_000)],
  ]);
}
