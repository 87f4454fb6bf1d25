import type { TaskSpec } from "@millrace/sdk/spec";
import type { Reach } from "./reach.ts";

const INT32 = 2_147_483_647;

/** Airflow's three weight rules: own weight, plus that of everything downstream or upstream; kept within int32. */
export function weigher(
  ancestors: Reach,
  descendants: Reach,
  specOf: (id: string) => TaskSpec | undefined,
): (task: TaskSpec) => number {
  const ownWeights = ({ order }: Reach) => Float64Array.from(order, (id) => specOf(id)?.priorityWeight ?? 0);
  const [up, down] = [ownWeights(ancestors), ownWeights(descendants)];
  return ({ taskId, weightRule, priorityWeight }) => {
    const others =
      weightRule === "absolute"
        ? 0
        : weightRule === "downstream"
          ? descendants.sum(taskId, down)
          : ancestors.sum(taskId, up);
    return Math.max(-INT32 - 1, Math.min(INT32, priorityWeight + others));
  };
}
