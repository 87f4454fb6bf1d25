import type { RunView, TaskSnapshot } from "./decide-task.ts";

/** The task instances of one run by task id. */
export function viewOf(tasks: Iterable<TaskSnapshot>): RunView {
  const byTask = new Map<string, TaskSnapshot[]>();
  for (const ti of tasks) {
    const same = byTask.get(ti.taskId);
    if (same === undefined) byTask.set(ti.taskId, [ti]);
    else same.push(ti);
  }
  return (taskId) => byTask.get(taskId) ?? [];
}
