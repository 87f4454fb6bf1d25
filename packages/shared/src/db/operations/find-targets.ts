// The task instances that an operation on history is about: tasks of a DAG's newest version, in one run, or in it and the
// runs before or after, or in a range of dates. Locks the runs and then the task instances, each in the order of their ids,
// unless it only looks: what a worker or scheduler does with them meanwhile comes before or after, never in between.
import { AppError } from "../../errors/index.ts";
import {
  followIndexes,
  selectTasks,
  unknownTasks,
  type DagGraph,
  type MapIndexes,
  type TaskSelection,
  type TaskState,
} from "../../model/index.ts";
import type { Queryable } from "../database.ts";
import type { DagVersions } from "../dag-versions.ts";
import { defineStatement } from "../statement.ts";
import type { OpenRun } from "../statements/lock-open-runs.ts";

export interface TargetSelection extends TaskSelection {
  readonly dagId: string;
  /** One run, or several; with `past` or `future` also the DAG's runs before or after them by logical date. */
  readonly runIds?: readonly string[];
  readonly past?: boolean;
  readonly future?: boolean;
  /** Instead of run ids: runs by logical date, both ends included. */
  readonly from?: Date;
  readonly to?: Date;
  /**
   * Of mapped tasks, by task id, which instances; a task that is not here is meant with all it has, or if it comes before
   * or after one in its mapped group with the instances of the same indexes.
   */
  readonly mapIndexes?: MapIndexes;
}

export interface TargetTask {
  readonly id: string;
  readonly epoch: number;
  readonly dagRunId: number;
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
  readonly state: TaskState;
  readonly tryNumber: number;
}

export interface Targets {
  readonly runs: readonly TargetRun[];
  readonly tasks: readonly TargetTask[];
  /** The graph of each run's version. */
  readonly graphs: ReadonlyMap<string, DagGraph>;
  readonly newest: { readonly id: string; readonly graph: DagGraph };
}

export type TargetRun = OpenRun;

type RunParams = readonly [
  dagId: string,
  runIds: readonly string[] | null,
  past: boolean,
  future: boolean,
  from: Date | null,
  to: Date | null,
];

const SELECT_RUNS = `
with named as (
  select min(logical_date) as first, max(logical_date) as last from dag_run where dag_id = $1 and run_id = any ($2::text[])
)
select r.id, r.run_id as "runId", r.state, r.created_dag_version_id as "versionId",
  r.logical_date as "logicalDate", r.run_type as "runType"
from dag_run r
where r.dag_id = $1 and r.created_dag_version_id is not null and case
  when $2::text[] is null then
    ($5::timestamptz is null or r.logical_date >= $5) and ($6::timestamptz is null or r.logical_date <= $6)
  else r.run_id = any ($2)
    or ($3 and r.logical_date < (select first from named))
    or ($4 and r.logical_date > (select last from named))
  end
order by r.id`;

const selectRuns = defineStatement<RunParams, TargetRun>({ name: "select-target-runs", sql: SELECT_RUNS });
const lockRuns = defineStatement<RunParams, TargetRun>({
  name: "lock-target-runs",
  sql: `${SELECT_RUNS} for no key update of r`,
});

export type TaskParams = readonly [dagId: string, runIds: readonly string[], taskIds: readonly string[]];

const SELECT_TASKS = `
select id, epoch, dag_run_id as "dagRunId", dag_id as "dagId", run_id as "runId", task_id as "taskId",
  map_index as "mapIndex", coalesce(state, 'none') as state, try_number as "tryNumber"
from task_instance
where dag_id = $1 and run_id = any ($2::text[]) and task_id = any ($3::text[])
order by id`;

const selectTasksOf = defineStatement<TaskParams, TargetTask>({ name: "select-target-tasks", sql: SELECT_TASKS });
// RACE: without the lock a claim or an end that is written between the reading and the change would win over the wish.
const lockTasksOf = defineStatement<TaskParams, TargetTask>({
  name: "lock-target-tasks",
  sql: `${SELECT_TASKS} for update`,
});

const readNewestVersion = defineStatement<readonly [dagId: string], { readonly id: string }>({
  name: "read-newest-version",
  sql: `select id from dag_version where dag_id = $1 order by version_number desc limit 1`,
});

/** @throws AppError DAG_NOT_FOUND, RUN_NOT_FOUND or TASK_NOT_FOUND. */
export async function findTargets(
  tx: Queryable,
  versions: DagVersions,
  selection: TargetSelection,
  lock: boolean,
): Promise<Targets> {
  const { dagId, runIds } = selection;
  const [newest] = await tx.run(readNewestVersion, [dagId]);
  const graph = newest === undefined ? undefined : (await versions.load([newest.id], tx)).get(newest.id);
  if (newest === undefined || graph === undefined) throw new AppError("DAG_NOT_FOUND", { dagId });
  const runs = await tx.run(lock ? lockRuns : selectRuns, [
    dagId,
    runIds ?? null,
    selection.past ?? false,
    selection.future ?? false,
    selection.from ?? null,
    selection.to ?? null,
  ]);
  for (const runId of runIds ?? []) {
    if (!runs.some((run) => run.runId === runId)) throw new AppError("RUN_NOT_FOUND", { dagId, runId });
  }
  const graphs = await versions.load(
    runs.map((run) => run.versionId),
    tx,
  );
  const all = [graph, ...graphs.values()];
  for (const taskId of selection.taskIds ?? []) {
    if (all.every((known) => unknownTasks(known, [taskId]).length > 0)) {
      throw new AppError("TASK_NOT_FOUND", { dagId, taskId, where: "" });
    }
  }
  const taskIds = new Set(all.flatMap((known) => [...selectTasks(known, selection)]));
  const found =
    runs.length === 0
      ? []
      : await tx.run(lock ? lockTasksOf : selectTasksOf, [dagId, runs.map((run) => run.runId), [...taskIds]]);
  const indexesOf = new Map(
    runs.map((run) => {
      const own = graphs.get(run.versionId);
      return [run.id, own === undefined ? undefined : followIndexes(own, selection, selection.mapIndexes)];
    }),
  );
  const tasks = found.filter((task) => indexesOf.get(task.dagRunId)?.get(task.taskId)?.has(task.mapIndex) !== false);
  return { runs, tasks, graphs, newest: { id: newest.id, graph } };
}
