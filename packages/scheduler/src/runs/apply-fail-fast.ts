// Ends the rest of a run whose DAG fails fast, once one of its tasks has failed.
import { loadRuns, markAttempts, stopAttempts, type TaskInstanceSnapshot } from "@millrace/shared/db";
import { decideChanges, failFast, type FailFast } from "@millrace/shared/model";
import type { ActorDeps } from "../deps.ts";
import { addLists } from "./add-lists.ts";
import type { Case } from "./examine-runs.ts";

/** Writes it, decides anew what follows in those runs, and gives the attempts that workers have to stop. */
export async function applyFailFast(deps: ActorDeps, cases: readonly Case[]): Promise<string[]> {
  const hit = cases.filter(
    (c) => c.graph.spec.failFast && [...c.known.values()].flat().some((ti) => ti.state === "failed"),
  );
  if (hit.length === 0) return [];
  const rows = await deps.tx.run(loadRuns, [hit.map((c) => c.target.run.dagId), hit.map((c) => c.target.run.runId)]);
  const ends = hit.flatMap((c) => {
    const all = rows.filter((row) => row.dagRunId === c.target.run.id);
    const end = failFast<TaskInstanceSnapshot>(c.graph, all);
    return end === undefined ? [] : [{ c, all, end }];
  });
  const rest = ends.flatMap(({ end }) => end.skip.map((ti) => ({ ti, reason: end.reason })));
  const skipped =
    rest.length === 0
      ? []
      : await deps.tx.run(markAttempts, [
          rest.map(({ ti }) => ti.id),
          rest.map(({ ti }) => ti.epoch),
          rest.map(() => "skipped"),
          rest.map(({ reason }) => reason),
        ]);
  const ids = new Set(skipped.map((row) => row.id));
  for (const { c, all, end } of ends) {
    const skip = end.skip.filter((ti) => ids.has(ti.id));
    c.isCutShort = skip.length > 0;
    readAnew(c, all, { ...end, skip });
  }
  await addLists(
    deps.tx,
    ends.flatMap(({ c }) => (c.graph.isMapped ? [...c.known.keys()].map((id) => ({ c, id })) : [])),
  );
  for (const { c } of ends) {
    const { changes, expansions } = decideChanges(c.graph, c.known, c.graph.tasks.keys(), c.past);
    c.changes = changes;
    c.expansions = expansions;
  }
  const stop = ends.flatMap(({ end }) => end.stop.map((ti) => ({ ti, reason: end.reason })));
  if (stop.length === 0) return [];
  const stopped = await deps.tx.run(stopAttempts, [
    stop.map(({ ti }) => ti.id),
    stop.map(() => "shutdown"),
    stop.map(({ ti }) => (ti.state === "restarting" ? "skipped" : "failed")),
    stop.map(({ reason }) => reason),
  ]);
  return stopped.map((row) => row.id);
}

/**
 * The teardowns see the others as they are now: what was decided before took them for scheduled or upstream_failed. What
 * somebody else changed since it was read (another scheduler may have queued it) was not skipped, and keeps the run open:
 * the next look at the run ends it.
 */
function readAnew(c: Case, all: readonly TaskInstanceSnapshot[], { skip, stop }: FailFast<TaskInstanceSnapshot>): void {
  c.known.clear();
  for (const id of c.graph.tasks.keys()) c.known.set(id, []);
  for (const ti of all) {
    const state = skip.includes(ti) ? "skipped" : stop.includes(ti) ? "shutdown" : ti.state;
    c.known.get(ti.taskId)?.push({ ...ti, state });
  }
  c.isReadAnew = true;
}
