// How long the lists are over which tasks are mapped, as part of what is known of runs under examination.
import { loadLists, type Queryable, type TaskInstanceSnapshot } from "@millrace/shared/db";
import { isDecidable, isFinished, type DagGraph } from "@millrace/shared/model";

/** A run of which `known` tasks were read. */
export interface Known {
  readonly target: { readonly run: { readonly id: number } };
  readonly graph: DagGraph;
  readonly known: Map<string, TaskInstanceSnapshot[]>;
}

/** Tells of tasks that have ended, or may end in this look without running, how long the lists are that they returned. */
export async function addLists(
  tx: Queryable,
  keys: readonly { readonly c: Known; readonly id: string }[],
): Promise<void> {
  const ended = keys.filter(
    ({ c, id }) =>
      (c.graph.tasks.get(id)?.listPaths.length ?? 0) > 0 &&
      (c.known.get(id) ?? []).every(({ state }) => isFinished(state) || isDecidable(state)),
  );
  if (ended.length === 0) return;
  const lists = await loadLists(
    tx,
    ended.map(({ c, id }) => ({ dagRunId: c.target.run.id, graph: c.graph, taskId: id })),
  );
  for (const [i, { c, id }] of ended.entries()) {
    const [first, ...rest] = c.known.get(id) ?? [];
    const found = lists[i];
    if (first !== undefined && found !== undefined) c.known.set(id, [{ ...first, lists: found }, ...rest]);
  }
}
