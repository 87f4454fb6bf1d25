import type { TaskSpec } from "@millrace/sdk/spec";

const INT32 = 2_147_483_647;

/** Airflow's three weight rules: own weight, plus that of everything downstream or upstream; kept within int32. */
export function weigh(
  task: TaskSpec,
  ancestors: ReadonlyMap<string, ReadonlySet<string>>,
  descendants: ReadonlyMap<string, ReadonlySet<string>>,
  specOf: (id: string) => TaskSpec | undefined,
): number {
  const sum = (ids: ReadonlySet<string> | undefined) =>
    [...(ids ?? [])].reduce((total, id) => total + (specOf(id)?.priorityWeight ?? 0), task.priorityWeight);
  const weight =
    task.weightRule === "absolute"
      ? task.priorityWeight
      : sum((task.weightRule === "downstream" ? descendants : ancestors).get(task.taskId));
  return Math.max(-INT32 - 1, Math.min(INT32, weight));
}
