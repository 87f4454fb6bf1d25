// Which tasks a clear or a mark is about, from how a person names them. Pure.
import type { DagGraph } from "./dag-graph.ts";

export interface TaskSelection {
  /** Exact ids; empty with no pattern means every task. */
  readonly taskIds?: readonly string[];
  /** Ids that it matches anywhere, as Airflow's `--task-regex`. */
  readonly pattern?: RegExp;
  /** And everything upstream, downstream of them at any distance. */
  readonly upstream?: boolean;
  readonly downstream?: boolean;
  /** And the setups that the selected work stands on, with their teardowns. */
  readonly withSetups?: boolean;
}

/** Ids that the DAG does not have are left out; `unknownTasks` names them. */
export function selectTasks(graph: DagGraph, selection: TaskSelection): ReadonlySet<string> {
  const { taskIds = [], pattern } = selection;
  const named =
    taskIds.length === 0 && pattern === undefined
      ? [...graph.tasks.keys()]
      : [...graph.tasks.keys()].filter((id) => taskIds.includes(id) || pattern?.test(id) === true);
  const selected = new Set(named);
  if (selection.upstream === true) reach(named, (id) => graph.tasks.get(id)?.upstream ?? [], selected);
  if (selection.downstream === true) reach(named, (id) => graph.tasks.get(id)?.downstream ?? [], selected);
  if (selection.withSetups === true) addSetups(graph, selected);
  return selected;
}

export const unknownTasks = (graph: DagGraph, taskIds: readonly string[]): readonly string[] =>
  taskIds.filter((id) => !graph.tasks.has(id));

function reach(from: readonly string[], next: (id: string) => readonly string[], into: Set<string>): void {
  const open = [...from];
  for (let id = open.pop(); id !== undefined; id = open.pop()) {
    for (const other of next(id)) {
      if (into.has(other)) continue;
      into.add(other);
      open.push(other);
    }
  }
}

/** For each selected task its setups, at any distance, and what tears those down; for a setup alone its teardowns. */
function addSetups(graph: DagGraph, selected: Set<string>): void {
  for (const id of [...selected]) {
    const node = graph.tasks.get(id);
    if (node === undefined) continue;
    const isSetup = (taskId: string) => graph.tasks.get(taskId)?.spec.isSetup === true;
    const setups = [...node.indirectSetups, ...node.upstream.filter(isSetup), ...(node.spec.isSetup ? [id] : [])];
    for (const setup of setups) {
      selected.add(setup);
      for (const down of graph.tasks.get(setup)?.downstream ?? []) {
        if (graph.tasks.get(down)?.spec.isTeardown === true) selected.add(down);
      }
    }
  }
}
