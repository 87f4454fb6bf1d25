import type { DagSpec } from "@millrace/sdk/spec";

/** Tasks that could never run as the pools are now, as messages by dag_warning.warning_type. */
export function poolWarnings(spec: DagSpec, slots: ReadonlyMap<string, number>): Readonly<Record<string, string>> {
  const missing = new Map<string, string[]>();
  const tooSmall: string[] = [];
  for (const { taskId, pool, poolSlots } of spec.tasks) {
    const size = slots.get(pool);
    if (size === undefined) missing.set(pool, [...(missing.get(pool) ?? []), taskId]);
    else if (size >= 0 && poolSlots > size)
      tooSmall.push(`task ${taskId} needs ${poolSlots} slots of pool ${pool}, which has ${size}`);
  }
  const nonExistent = [...missing].map(([pool, tasks]) => `pool ${pool} does not exist (task ${tasks.join(", ")})`);
  const message = (parts: readonly string[]) => `${parts.join("; ")}. These tasks will wait until that is changed.`;
  return {
    ...(nonExistent.length > 0 ? { "non-existent pool": message(nonExistent) } : {}),
    ...(tooSmall.length > 0 ? { "pool too small": message(tooSmall) } : {}),
  };
}

/** Every pool that a task of theirs asks for. */
export const poolsOf = (specs: readonly DagSpec[]): string[] => [
  ...new Set(specs.flatMap((spec) => spec.tasks.map((task) => task.pool))),
];
