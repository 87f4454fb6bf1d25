// Ends the rest of a run whose DAG fails fast, once one of its tasks has failed.
import { loadRuns, markAttempts, stopAttempts, type TaskInstanceSnapshot } from "@millrace/shared/db";
import { failFast } from "@millrace/shared/model";
import type { ActorDeps } from "../deps.ts";
import type { Case } from "./examine-runs.ts";

/** Writes it, takes back what was decided for those tasks, and gives the attempts that workers have to stop. */
export async function applyFailFast(deps: ActorDeps, cases: readonly Case[]): Promise<string[]> {
  const hit = cases.filter(
    (c) => c.graph.spec.failFast && [...c.known.values()].flat().some((ti) => ti.state === "failed"),
  );
  if (hit.length === 0) return [];
  const rows = await deps.tx.run(loadRuns, [hit.map((c) => c.target.run.dagId), hit.map((c) => c.target.run.runId)]);
  const ends = hit.flatMap((c) => {
    const end = failFast<TaskInstanceSnapshot>(
      c.graph,
      rows.filter((row) => row.dagRunId === c.target.run.id),
    );
    if (end === undefined) return [];
    const ended = new Set(end.skip.map((ti) => ti.id));
    c.changes = c.changes.filter((change) => !ended.has(change.ti.id));
    return [end];
  });
  const skip = ends.flatMap((end) => end.skip.map((ti) => ({ ti, reason: end.reason })));
  if (skip.length > 0) {
    await deps.tx.run(markAttempts, [
      skip.map(({ ti }) => ti.id),
      skip.map(({ ti }) => ti.epoch),
      skip.map(() => "skipped"),
      skip.map(({ reason }) => reason),
    ]);
  }
  const stop = ends.flatMap((end) => end.stop.map((ti) => ({ ti, reason: end.reason })));
  if (stop.length === 0) return [];
  const stopped = await deps.tx.run(stopAttempts, [
    stop.map(({ ti }) => ti.id),
    stop.map(() => "shutdown"),
    stop.map(() => "failed"),
    stop.map(({ reason }) => reason),
  ]);
  return stopped.map((row) => row.id);
}
