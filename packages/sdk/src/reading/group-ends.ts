// Where an edge enters and leaves a group. The rules are Airflow's, teardowns included.
import type { GroupNode, Node, TaskNode } from "../authoring/definition.ts";
import type { Graph } from "./graph.ts";

/** The groups around a task or a group, outermost first. */
export function groupsAround(node: Node): readonly GroupNode[] {
  const around: GroupNode[] = [];
  for (let group = node.kind === "task" ? node.group : node.parent; group !== undefined; group = group.parent) {
    around.unshift(group);
  }
  return around;
}

/** The tasks of each group, those of the groups inside it included. A group without any is missing. */
export function groupMembers(tasks: readonly TaskNode[]): ReadonlyMap<GroupNode, ReadonlySet<TaskNode>> {
  const members = new Map<GroupNode, Set<TaskNode>>();
  for (const task of tasks) {
    for (const group of groupsAround(task)) members.set(group, (members.get(group) ?? new Set()).add(task));
  }
  return members;
}

/** The tasks that nothing else in the group comes before. */
export function roots(members: ReadonlySet<TaskNode>, graph: Graph): readonly TaskNode[] {
  return [...members].filter((task) => none(graph.upstream(task), (before) => members.has(before)));
}

/**
 * The tasks that nothing else in the group comes after. What follows the group need not wait for its teardowns: for
 * each of them stand the tasks that it cleans up after.
 */
export function leaves(members: ReadonlySet<TaskNode>, graph: Graph): readonly TaskNode[] {
  const found = new Set<TaskNode>();
  const beforeTeardown = (teardown: TaskNode): void => {
    for (const task of graph.upstream(teardown)) {
      if (!members.has(task)) continue;
      if (task.isTeardown) beforeTeardown(task);
      else if (!task.isSetup && none(graph.downstream(task), (next) => members.has(next) && !next.isTeardown)) {
        found.add(task);
      }
    }
  };
  for (const task of members) {
    if (!none(graph.downstream(task), (next) => members.has(next))) continue;
    if (task.isTeardown) beforeTeardown(task);
    else found.add(task);
  }
  return [...found];
}

function none<T>(values: Iterable<T>, predicate: (value: T) => boolean): boolean {
  for (const value of values) if (predicate(value)) return false;
  return true;
}
