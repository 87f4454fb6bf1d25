// Reads the run before for tasks that depend on it.
import { pastTasksOf, type DagGraph, type PastOfTask, type PastView } from "../model/index.ts";
import type { Queryable } from "./database.ts";
import { loadTasks } from "./statements/load-task-instances.ts";
import { previousRuns, tasksWithEarlier, type PreviousRun } from "./statements/neighbour-runs.ts";

interface Asking {
  /** dag_run.id */
  readonly id: number;
  readonly graph: DagGraph;
}

/** The past of every case that has tasks which depend on it, by run. */
export async function loadPast(tx: Queryable, cases: readonly Asking[]): Promise<ReadonlyMap<number, PastView>> {
  const asking = cases.filter((c) => c.graph.pastTasks.length > 0);
  if (asking.length === 0) return new Map();
  const previous = await tx.run(previousRuns, [
    asking.map((c) => c.id),
    asking.map((c) => c.graph.spec.catchup === true),
  ]);
  const byRun = new Map(previous.map((row) => [row.id, row]));
  const asked = asking.flatMap((c) => {
    const run = byRun.get(c.id);
    return run === undefined ? [] : [{ graph: c.graph, run, tasks: tasksToRead(c.graph) }];
  });
  const keys = asked.flatMap(({ run, tasks }) => tasks.map((taskId) => ({ run, taskId })));
  const rows =
    keys.length === 0
      ? []
      : await tx.run(loadTasks, [
          keys.map((key) => key.run.dagId),
          keys.map((key) => key.run.runId),
          keys.map((key) => key.taskId),
        ]);
  const states = new Map<number, { taskId: string; state: (typeof rows)[number]["state"] }[]>();
  for (const row of rows) states.set(row.dagRunId, [...(states.get(row.dagRunId) ?? []), row]);
  const earlier = await loadEarlier(tx, asked, states);
  return new Map(asked.map(({ run }) => [run.id, viewOfRun(run, states.get(run.previousId) ?? [], earlier)] as const));
}

const tasksToRead = (graph: DagGraph): string[] => [
  ...new Set(
    graph.pastTasks.flatMap((id) => {
      const node = graph.tasks.get(id);
      return node === undefined ? [] : pastTasksOf(node);
    }),
  ),
];

type States = PastOfTask["states"];

const viewOfRun =
  (run: PreviousRun, states: States, earlier: ReadonlySet<string>): PastView =>
  (taskId) => ({
    runId: run.runId,
    logicalDate: run.logicalDate.getTime(),
    isOver: run.isOver,
    states,
    hasEarlier: states.some((ti) => ti.taskId === taskId) || earlier.has(`${run.dagId}\n${taskId}`),
  });

/** Only asked for tasks that the run before lacks and that would not mind if no run ever had them. */
async function loadEarlier(
  tx: Queryable,
  asked: readonly { readonly graph: DagGraph; readonly run: PreviousRun }[],
  states: ReadonlyMap<number, States>,
): Promise<ReadonlySet<string>> {
  const keys = asked.flatMap(({ graph, run }) =>
    graph.pastTasks
      .filter((id) => graph.tasks.get(id)?.spec.ignoreFirstDependsOnPast === true)
      .filter((id) => !(states.get(run.previousId) ?? []).some((ti) => ti.taskId === id))
      .map((taskId) => ({ dagId: run.dagId, taskId, before: run.logicalDate })),
  );
  if (keys.length === 0) return new Set();
  const rows = await tx.run(tasksWithEarlier, [
    keys.map((key) => key.dagId),
    keys.map((key) => key.taskId),
    keys.map((key) => key.before),
  ]);
  return new Set(rows.map((row) => `${row.dagId}\n${row.taskId}`));
}
