import { listTaskInstances, type Database, type TargetTask } from "@millrace/shared/db";
import { presentTaskInstance } from "./present-task-instance.ts";
import type { TaskInstanceCollection } from "../types/index.ts";

/** What an operation changed, or would, as it is now. */
export async function presentOperated(
  db: Database,
  dagId: string,
  tasks: readonly TargetTask[],
): Promise<TaskInstanceCollection> {
  if (tasks.length === 0) return { task_instances: [], total_entries: 0 };
  const nameOf = (task: Pick<TargetTask, "dagId" | "runId" | "taskId" | "mapIndex">) =>
    `${task.dagId}\n${task.runId}\n${task.taskId}\n${task.mapIndex}`;
  const changed = new Set(tasks.map(nameOf));
  const runIds = [...new Set(tasks.map((task) => task.runId))];
  // A recursive clear goes into other DAGs.
  const of = tasks.every((task) => task.dagId === dagId) ? dagId : "~";
  const { items } = await listTaskInstances(db, of, "~", { runIds, orderBy: ["logical_date", "task_id"] });
  const found = items.filter((item) => changed.has(nameOf(item)));
  return { task_instances: found.map(presentTaskInstance), total_entries: found.length };
}
