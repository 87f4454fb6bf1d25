import type { TaskSpec } from "@millrace/sdk/spec";

/**
 * What sets a task apart from the others of its pool and DAG when limits are asked: its own limit, or the number of
 * slots it takes. Scheduled task instances of one (pool, dag, lane) are interchangeable to every limit except
 * maxActiveTisPerDagrun, which makes a lane per run (`runLane`), so the head of a lane stands for all of it and a
 * blocked lane costs one look however long it is.
 */
export function laneOf(task: TaskSpec): string {
  const own = task.maxActiveTisPerDag !== undefined || task.maxActiveTisPerDagrun !== undefined;
  const slots = task.poolSlots > 1 ? `slots ${task.poolSlots}` : "";
  return own ? `task ${task.taskId}` : slots;
}

/** The lane of a task instance: as the task's, and of its run alone when the task is limited per run. */
export const runLane = (lane: string, task: TaskSpec, runId: string): string =>
  task.maxActiveTisPerDagrun === undefined ? lane : `${lane} run ${runId}`;
