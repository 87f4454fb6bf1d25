// The lengths of the lists over which tasks are mapped, for the tasks that return them.
import { listKey, type DagGraph, type ListLength, type TaskNode } from "../model/index.ts";
import type { Queryable } from "./database.ts";
import { readListLengths, type ListLengthRow } from "./statements/list-lengths.ts";

export interface ListSource {
  readonly dagRunId: number;
  readonly graph: DagGraph;
  readonly taskId: string;
}

export type Lists = Readonly<Record<string, ListLength>>;

/** In the order of `sources`; undefined for a task over which none is mapped. */
export async function loadLists(
  tx: Queryable,
  sources: readonly ListSource[],
): Promise<readonly (Lists | undefined)[]> {
  const asked = sources.flatMap(({ dagRunId, graph, taskId }, source) => {
    const node = graph.tasks.get(taskId);
    return (node?.listPaths ?? []).map((path) => ({ source, dagRunId, taskId, path, isMapped: isMapped(node) }));
  });
  if (asked.length === 0) return sources.map(() => undefined);
  const rows = await tx.run(readListLengths, [
    asked.map((one) => one.dagRunId),
    asked.map((one) => one.taskId),
    asked.map((one) => JSON.stringify(one.path)),
    asked.map((one) => one.isMapped),
  ]);
  const found = sources.map((): Record<string, ListLength> | undefined => undefined);
  for (const row of rows) {
    const one = asked[row.ordinal - 1];
    if (one === undefined) continue;
    const lists = found[one.source] ?? {};
    lists[listKey(one.path)] = lengthOf(row);
    found[one.source] = lists;
  }
  return found;
}

const isMapped = (node: TaskNode | undefined): boolean => node?.mapping !== undefined;

function lengthOf({ type, length }: ListLengthRow): ListLength {
  if (type === null) return null;
  if (length !== null) return length;
  return { is: type === "object" || type === "array" ? `an ${type}` : type === "null" ? "null" : `a ${type}` };
}
