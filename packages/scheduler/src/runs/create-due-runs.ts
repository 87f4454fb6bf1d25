// Creates the runs that schedules ask for. The dag row holds the pointer to its next run; whoever has the row creates
// that run and moves the pointer on in one transaction, so that each interval gets exactly one run with any number of
// schedulers, however late they are. Under catchup a dag gets as many as its max_active_runs leaves room for.
import { createRuns, lockDueDags, pointerFor, storePointers, type DueDag, type NewRun } from "@millrace/shared/db";
import type { DagGraph, PlannedRun } from "@millrace/shared/model";
import type { ActorDeps } from "../deps.ts";

export interface CreatedRuns {
  readonly created: number;
  /** Whether more were due than one pass creates. */
  readonly more: boolean;
}

const RUNS_PER_DAG = 50;

export async function createDueRuns(deps: ActorDeps): Promise<CreatedRuns> {
  const limit = deps.config.scheduler.max_dagruns_to_create_per_loop;
  const due = await deps.tx.run(lockDueDags, [limit]);
  if (due.length === 0) return { created: 0, more: false };
  const graphs = await deps.versions.load(due.map((dag) => dag.versionId));
  const plans = due.flatMap((dag) => {
    const graph = graphs.get(dag.versionId);
    return graph === undefined ? [] : [{ dag, graph, ...planDag(deps, dag, graph) }];
  });
  const created = await createRuns(
    deps.tx,
    plans.flatMap(({ dag, graph, runs }) => runs.map((run) => scheduledRun(dag, graph, run))),
  );
  await storePointers(
    deps.tx,
    plans.map(({ dag, next }) => ({ dagId: dag.dagId, next })),
  );
  return { created: created.length, more: due.length === limit };
}

/** The runs that are due now, and the one after them. A schedule that fails stops its own dag only. */
function planDag(deps: ActorDeps, dag: DueDag, graph: DagGraph): { runs: PlannedRun[]; next: PlannedRun | undefined } {
  const now = dag.now.getTime();
  const runs: PlannedRun[] = [];
  let next: PlannedRun | undefined = {
    logicalDate: dag.logicalDate.getTime(),
    interval: { start: dag.intervalStart.getTime(), end: dag.intervalEnd.getTime() },
    runAfter: dag.runAfter.getTime(),
  };
  try {
    while (next !== undefined && next.runAfter <= now && runs.length < Math.min(dag.room, RUNS_PER_DAG)) {
      runs.push(next);
      // As it would have been planned in time: what was missed while nobody was there to create it is not skipped. Only a
      // continuous schedule asks for what has passed since.
      next = pointerFor(graph.spec, next.interval, graph.spec.schedule.kind === "continuous" ? now : next.runAfter);
    }
  } catch (error) {
    deps.log.error(
      { dag: dag.dagId, cause: String(error) },
      "a schedule failed; its dag gets no further runs until it is read again",
    );
    next = undefined;
  }
  return { runs, next };
}

const scheduledRun = (dag: DueDag, graph: DagGraph, run: PlannedRun): NewRun => ({
  graph,
  versionId: dag.versionId,
  runId: `scheduled__${new Date(run.runAfter).toISOString().replace(/(\.000)?Z$/, "+00:00")}`,
  runType: "scheduled",
  logicalDate: run.logicalDate,
  interval: run.interval,
  runAfter: run.runAfter,
  conf: {},
  triggeredBy: "timetable",
  user: null,
});
