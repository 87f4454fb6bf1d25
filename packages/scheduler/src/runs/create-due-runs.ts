// Creates the runs that schedules ask for. The dag row holds the pointer to its next run; whoever has the row creates
// that run and moves the pointer on in one transaction, so that each interval gets exactly one run with any number of
// schedulers, however late they are. Under catchup a dag gets as many as its max_active_runs leaves room for.
import {
  createRuns,
  keepRest,
  lockDueDags,
  readPlans,
  setTimetableErrors,
  storePointers,
  type DueDag,
  type NewRun,
} from "@millrace/shared/db";
import { messageOf } from "@millrace/shared/errors";
import {
  dueRuns,
  scheduledRunId,
  timeOf,
  withoutCreated,
  type CustomPlan,
  type DagGraph,
  type DueRuns,
  type PlannedRun,
} from "@millrace/shared/model";
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
  const graphs = await deps.versions.load(
    due.map((dag) => dag.versionId),
    deps.tx,
  );
  const isCustom = (dag: DueDag) => {
    const graph = graphs.get(dag.versionId);
    return graph !== undefined && timeOf(graph.spec.schedule).kind === "custom";
  };
  const stored = await readPlans(
    deps.tx,
    due.filter(isCustom).map((dag) => dag.dagId),
  );
  const plans = due.flatMap((dag) => {
    const graph = graphs.get(dag.versionId);
    return graph === undefined ? [] : [{ dag, graph, ...planDag(deps, dag, graph, stored.get(dag.dagId)) }];
  });
  const created = await createRuns(
    deps.tx,
    plans.flatMap(({ dag, graph, runs }) => runs.map((run) => scheduledRun(dag, graph, run))),
  );
  await storePointers(
    deps.tx,
    plans.map(({ dag, next }) => ({ dagId: dag.dagId, next })),
  );
  const rests = plans.flatMap(({ dag, next }): [string, CustomPlan][] => {
    const plan = stored.get(dag.dagId);
    return plan === undefined ? [] : [[dag.dagId, withoutCreated(plan, next)]];
  });
  await keepRest(deps.tx, new Map(rests));
  const failed = plans.filter(({ failure }) => failure !== undefined);
  if (failed.length > 0) {
    const messages = failed.map(
      ({ failure }) => `${messageOf(failure)} There are no further runs until that is changed.`,
    );
    await deps.tx.run(setTimetableErrors, [failed.map(({ dag }) => dag.dagId), messages]);
  }
  return { created: created.length, more: due.length === limit };
}

/** The runs that are due now, and the one after them. A schedule that fails stops its own dag only. */
function planDag(deps: ActorDeps, dag: DueDag, graph: DagGraph, stored: CustomPlan | undefined): DueRuns {
  const pointer: PlannedRun = {
    logicalDate: dag.logicalDate.getTime(),
    interval: { start: dag.intervalStart.getTime(), end: dag.intervalEnd.getTime() },
    runAfter: dag.runAfter.getTime(),
  };
  const due = dueRuns(graph.spec, pointer, dag.now.getTime(), Math.min(dag.room, RUNS_PER_DAG), stored?.runs);
  if (due.failure !== undefined) {
    deps.log.error(
      { dag: dag.dagId, cause: String(due.failure) },
      "a schedule failed; its dag gets no further runs until it is read again",
    );
  }
  return due;
}

const scheduledRun = (dag: DueDag, graph: DagGraph, run: PlannedRun): NewRun => ({
  graph,
  versionId: dag.versionId,
  runId: scheduledRunId(run.runAfter),
  runType: "scheduled",
  logicalDate: run.logicalDate,
  interval: run.interval,
  runAfter: run.runAfter,
  conf: {},
  triggeredBy: "timetable",
  user: null,
});
