// Moves runs to the newest version of their DAG: tasks that it lacks are removed, tasks that are new there are added, and
// what has not begun takes the task's new pool, queue and weight. What a worker has ends on the version it began with.
import { isFinished, isWithinDates, runLane } from "../../model/index.ts";
import { createTaskInstances } from "../create-runs.ts";
import type { Queryable } from "../database.ts";
import { defineStatement } from "../statement.ts";
import { moveRuns, refreshTaskInstances } from "../statements/move-runs.ts";
import { removeAttempts } from "../statements/remove-attempts.ts";
import type { TargetRun, Targets, TargetTask } from "./find-targets.ts";

const selectAllTasks = defineStatement<readonly [dagRunIds: readonly number[]], TargetTask>({
  name: "select-tasks-of-runs",
  sql: `
select ti.id, ti.epoch, ti.dag_run_id as "dagRunId", ti.dag_id as "dagId", ti.run_id as "runId", ti.task_id as "taskId",
  ti.map_index as "mapIndex", coalesce(ti.state, 'none') as state, ti.try_number as "tryNumber"
from dag_run r join task_instance ti on ti.dag_id = r.dag_id and ti.run_id = r.run_id
where r.id = any ($1::bigint[])
order by ti.id`,
});

/** The caller holds the runs. Gives the targets as they are after the move. */
export async function moveToNewest(tx: Queryable, targets: Targets): Promise<Targets> {
  const { newest } = targets;
  const moving = targets.runs.filter((run) => run.versionId !== newest.id);
  if (moving.length === 0) return targets;
  const ids = moving.map((run) => run.id);
  await tx.run(moveRuns, [ids, newest.id]);
  const before = await tx.run(selectAllTasks, [ids]);
  const gone = before.filter((task) => !newest.graph.tasks.has(task.taskId));
  await tx.run(removeAttempts, [gone.map((task) => task.id), gone.map((task) => task.epoch)]);
  await createTaskInstances(tx, newTasks(moving, before, targets));
  const named = new Set([...targets.tasks, ...firstOfUnmapped(before, targets)].map((task) => task.id));
  // What has ended and is not about to start afresh stays as it was run.
  const begins = (task: TargetTask) => named.has(task.id) || !isFinished(task.state);
  await refresh(tx, targets, (await tx.run(selectAllTasks, [ids])).filter(begins));
  const moved = new Set(ids);
  const after = await tx.run(selectAllTasks, [ids]);
  const kept = targets.tasks.filter((task) => !moved.has(task.dagRunId));
  return {
    ...targets,
    runs: targets.runs.map((run) => (moved.has(run.id) ? { ...run, versionId: newest.id } : run)),
    graphs: new Map([...targets.graphs, [newest.id, newest.graph]]),
    tasks: [...kept, ...after.filter((task) => named.has(task.id) && newest.graph.tasks.has(task.taskId))],
  };
}

/** Of a task that is not mapped any more index 0 becomes the whole of it: it begins with whichever instance begins. */
function firstOfUnmapped(before: readonly TargetTask[], { tasks, newest }: Targets): TargetTask[] {
  const nameOf = ({ dagRunId, taskId }: TargetTask) => `${dagRunId} ${taskId}`;
  const begun = new Set(tasks.filter(({ mapIndex }) => mapIndex > 0).map(nameOf));
  return before.filter((task) => {
    const node = newest.graph.tasks.get(task.taskId);
    return node !== undefined && node.mapping === undefined && task.mapIndex === 0 && begun.has(nameOf(task));
  });
}

function newTasks(moving: readonly TargetRun[], before: readonly TargetTask[], { newest }: Targets) {
  const has = new Set(before.map((task) => `${task.dagRunId} ${task.taskId}`));
  return moving.flatMap((run) => {
    const dates = { logicalDate: run.logicalDate?.getTime() ?? null, runType: run.runType };
    return [...newest.graph.tasks.values()]
      .filter((node) => !has.has(`${run.id} ${node.spec.taskId}`) && isWithinDates(node.spec, dates))
      .map((node) => ({ dagRunId: run.id, node, lane: runLane(node.lane, node.spec, run.runId) }));
  });
}

async function refresh(tx: Queryable, { newest }: Targets, tasks: readonly TargetTask[]): Promise<void> {
  const known = tasks.flatMap((task) => {
    const node = newest.graph.tasks.get(task.taskId);
    return node === undefined ? [] : [{ task, node, spec: node.spec }];
  });
  await tx.run(refreshTaskInstances, [
    known.map(({ task }) => task.id),
    newest.id,
    known.map(({ spec }) => spec.pool),
    known.map(({ spec }) => spec.poolSlots),
    known.map(({ spec }) => spec.queue),
    known.map(({ task, node, spec }) => runLane(node.lane, spec, task.runId)),
    known.map(({ node }) => node.priorityWeight),
    known.map(({ spec }) => spec.operator),
    known.map(({ spec }) => spec.taskDisplayName ?? spec.taskId),
    known.map(({ spec }) => spec.callbacks.join()),
  ]);
}
