// What a recursive clear reaches in other DAGs: a marker among what is cleared names a task of another DAG that waits for
// it; that task at the same logical date, what is downstream of it, and the markers among those in turn.
import { AppError } from "../../errors/index.ts";
import type { Queryable } from "../database.ts";
import type { DagVersions } from "../dag-versions.ts";
import { findTargets, type TargetTask, type Targets } from "./find-targets.ts";

export interface Found {
  readonly targets: Targets;
  /** Those of them that are meant. */
  readonly tasks: readonly TargetTask[];
}

interface Marked {
  readonly dagId: string;
  readonly taskId: string;
  readonly logicalDate: Date;
  readonly depth: number;
}

/**
 * @param isMeant narrows what was found as the request does
 * @returns the first, and what is behind its markers, one entry a marker
 * @throws AppError MARKERS_TOO_DEEP, or as findTargets for a marker that names what there is not.
 */
export async function followMarkers(
  tx: Queryable,
  versions: DagVersions,
  first: Found,
  lock: boolean,
  meant: (targets: Targets) => readonly TargetTask[],
): Promise<readonly Found[]> {
  const all = [first];
  const seen = new Set<string>();
  const open = markersIn(first, Infinity);
  for (let next = open.shift(); next !== undefined; next = open.shift()) {
    const { dagId, taskId, logicalDate, depth } = next;
    const name = `${dagId}\n${taskId}\n${logicalDate.getTime()}`;
    if (seen.has(name)) continue;
    seen.add(name);
    if (depth <= 0) throw new AppError("MARKERS_TOO_DEEP", { dagId, taskId });
    const selection = { dagId, taskIds: [taskId], downstream: true, from: logicalDate, to: logicalDate };
    const targets = await findTargets(tx, versions, selection, lock);
    const found = { targets, tasks: meant(targets) };
    all.push(found);
    open.push(...markersIn(found, depth - 1));
  }
  return all;
}

function markersIn({ targets, tasks }: Found, depthLeft: number): Marked[] {
  const runs = new Map(targets.runs.map((run) => [run.id, run]));
  return tasks.flatMap((task): Marked[] => {
    const run = runs.get(task.dagRunId);
    const marker = targets.graphs.get(run?.versionId ?? "")?.tasks.get(task.taskId)?.spec.externalTaskMarker;
    if (marker === undefined || run === undefined || run.logicalDate === null) return [];
    const { dagId, taskId, recursionDepth } = marker;
    return [{ dagId, taskId, logicalDate: run.logicalDate, depth: Math.min(depthLeft, recursionDepth) }];
  });
}
