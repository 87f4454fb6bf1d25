import type { Queryable } from "../database.ts";
import { nextRuns } from "../statements/neighbour-runs.ts";

/** The runs in which something was changed, and those after them, which may have waited for it. */
export async function runsToLookAt(tx: Queryable, changed: Iterable<number>): Promise<number[]> {
  const ids = [...new Set(changed)].sort((a, b) => a - b);
  if (ids.length === 0) return [];
  const next = await tx.run(nextRuns, [ids]);
  return [...new Set([...ids, ...next.map((run) => run.id)])];
}
