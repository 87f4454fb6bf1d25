// From edges between tasks and groups to edges between tasks. What an edge at a group means depends on the edges
// inside that group, so they are resolved from the innermost groups outwards.
import type { DagDefinition, Edge, Node, TaskNode } from "../authoring/definition.ts";
import { Graph } from "./graph.ts";
import { groupMembers, groupsAround, leaves, roots } from "./group-ends.ts";
import type { Problems } from "./problems.ts";

export interface ResolvedEdges {
  readonly graph: Graph;
  /** The tasks through which an edge enters a task or a group. */
  readonly entries: (node: Node) => readonly TaskNode[];
}

/** @param more edges that nobody drew, from what a group is mapped over to the group */
export function resolveEdges(
  dag: DagDefinition,
  dataEdges: readonly (readonly [from: TaskNode, to: TaskNode])[],
  problems: Problems,
  more: readonly Edge[] = [],
): ResolvedEdges {
  const graph = new Graph();
  for (const [from, to] of dataEdges) graph.add(from, to);
  const members = groupMembers(dag.tasks);
  const isEmpty = (node: Node): boolean => node.kind === "group" && !members.has(node);
  const tasksOf = (node: Node): ReadonlySet<TaskNode> =>
    node.kind === "task" ? new Set([node]) : (members.get(node) ?? new Set());
  const own = [...dag.edges, ...more].filter((edge) => isWithin(dag, edge, problems));
  const edges = stepOverEmptyGroups(own, isEmpty).filter((edge) => !isAroundItself(edge, problems));
  for (const { from, to } of edges.toSorted((a, b) => commonDepth(b) - commonDepth(a))) {
    for (const before of leavesOf(from)) for (const after of entries(to)) graph.add(before, after);
  }
  return { graph, entries };

  function leavesOf(node: Node): readonly TaskNode[] {
    return node.kind === "task" ? [node] : leaves(tasksOf(node), graph);
  }
  function entries(node: Node): readonly TaskNode[] {
    return node.kind === "task" ? [node] : roots(tasksOf(node), graph);
  }
}

function isWithin(dag: DagDefinition, edge: Edge, problems: Problems): boolean {
  const other = [edge.from, edge.to].find((node) => node.dag !== dag);
  if (other === undefined) return true;
  problems.add(
    `an edge leads to ${other.kind} "${other.id}" of the DAG "${other.dag.id}"; edges stay within a DAG`,
    edge.at,
  );
  return false;
}

/** An edge between a group and something in it would make the group wait for itself. */
function isAroundItself(edge: Edge, problems: Problems): boolean {
  const { from, to, at } = edge;
  const outer = [from, to].find(
    (node) => node.kind === "group" && [...groupsAround(from), ...groupsAround(to)].includes(node),
  );
  if (outer === undefined && !(from === to && from.kind === "group")) return false;
  problems.add(`${from.kind} "${from.id}" before ${to.kind} "${to.id}": a group cannot wait for itself`, at);
  return true;
}

/** `a → (empty) → b` means `a → b`, over any number of empty groups. */
function stepOverEmptyGroups(edges: readonly Edge[], isEmpty: (node: Node) => boolean): readonly Edge[] {
  const outOf = new Map<Node, Edge[]>();
  for (const edge of edges) {
    if (isEmpty(edge.from)) outOf.set(edge.from, [...(outOf.get(edge.from) ?? []), edge]);
  }
  return edges
    .filter((edge) => !isEmpty(edge.from))
    .flatMap((edge) => {
      const seen = new Set<Node>([edge.to]);
      for (const node of seen) for (const next of outOf.get(node) ?? []) seen.add(next.to);
      return [...seen].filter((node) => !isEmpty(node)).map((to) => ({ ...edge, to }));
    });
}

/** How many groups are around both ends. */
function commonDepth({ from, to }: Edge): number {
  const aroundTo = groupsAround(to);
  return groupsAround(from).filter((group, index) => group === aroundTo[index]).length;
}
