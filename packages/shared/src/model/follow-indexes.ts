// Which instances of mapped tasks a clear or a mark is about, when a person names some by their indexes. What comes before
// or after one in its mapped group has the same index; a way out of the group leads to all instances. Pure.
import type { DagGraph } from "./dag-graph.ts";
import { selectTasks, type TaskSelection } from "./select-tasks.ts";

/** Of mapped tasks, by task id, which instances. */
export type MapIndexes = Readonly<Record<string, readonly number[]>>;

/** By task id, of tasks that are not meant with all they have. The one that stands for a whole task is always meant. */
export function followIndexes(
  graph: DagGraph,
  selection: TaskSelection,
  mapIndexes: MapIndexes = {},
): ReadonlyMap<string, ReadonlySet<number>> {
  const found = new Map<string, Set<number>>();
  const whole = new Set<string>();
  const named = Object.keys(mapIndexes).length === 0 ? [] : selectTasks(graph, withoutOthers(selection));
  for (const start of named) {
    const indexes = mapIndexes[start];
    const group = indexes === undefined ? undefined : graph.tasks.get(start)?.mapGroup;
    if (indexes !== undefined) addAll(found, start, indexes);
    const follow = (next: (id: string) => readonly string[]): void => {
      for (const { id, stays } of waysFrom(graph, start, group, next)) {
        if (stays) addAll(found, id, [-1, ...(indexes ?? [])]);
        else whole.add(id);
      }
    };
    if (selection.downstream === true || selection.withSetups === true)
      follow((id) => graph.tasks.get(id)?.downstream ?? []);
    if (selection.upstream === true || selection.withSetups === true)
      follow((id) => graph.tasks.get(id)?.upstream ?? []);
  }
  for (const id of whole) if (mapIndexes[id] === undefined) found.delete(id);
  return found;
}

const withoutOthers = ({ taskIds, pattern }: TaskSelection): TaskSelection => ({
  ...(taskIds === undefined ? {} : { taskIds }),
  ...(pattern === undefined ? {} : { pattern }),
});

function addAll(to: Map<string, Set<number>>, id: string, indexes: readonly number[]): void {
  const known = to.get(id) ?? new Set();
  for (const index of indexes) known.add(index);
  to.set(id, known);
}

/** Everything that can be reached, with whether a way to it stays in the group; twice if there are ways of both kinds. */
function waysFrom(
  graph: DagGraph,
  start: string,
  group: string | undefined,
  next: (id: string) => readonly string[],
): readonly { readonly id: string; readonly stays: boolean }[] {
  const ways = [{ id: start, stays: group !== undefined }];
  const seen = new Set<string>();
  for (let at = 0; at < ways.length; at++) {
    const from = ways[at];
    if (from === undefined) break;
    for (const id of next(from.id)) {
      const stays = from.stays && graph.tasks.get(id)?.mapGroup === group;
      if (seen.has(`${id} ${stays}`)) continue;
      seen.add(`${id} ${stays}`);
      ways.push({ id, stays });
    }
  }
  return ways.slice(1);
}
