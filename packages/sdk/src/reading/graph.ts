// Which tasks come directly before and after which, once every edge has been resolved to tasks.
import type { TaskNode } from "../authoring/definition.ts";

export class Graph {
  readonly #upstream = new Map<TaskNode, Set<TaskNode>>();
  readonly #downstream = new Map<TaskNode, Set<TaskNode>>();

  add(from: TaskNode, to: TaskNode): void {
    link(this.#downstream, from, to);
    link(this.#upstream, to, from);
  }

  upstream(task: TaskNode): ReadonlySet<TaskNode> {
    return this.#upstream.get(task) ?? new Set();
  }

  downstream(task: TaskNode): ReadonlySet<TaskNode> {
    return this.#downstream.get(task) ?? new Set();
  }

  /** Every task after one of `tasks`, at any distance. */
  reachable(tasks: Iterable<TaskNode>): ReadonlySet<TaskNode> {
    const seen = new Set<TaskNode>();
    const open = [...tasks];
    for (let task = open.pop(); task !== undefined; task = open.pop()) {
      for (const next of this.downstream(task)) {
        if (!seen.has(next)) {
          seen.add(next);
          open.push(next);
        }
      }
    }
    return seen;
  }

  /** One cycle in the direction of its edges, or undefined. Iterative: a DAG can be a chain of thousands. */
  cycle(tasks: readonly TaskNode[]): readonly TaskNode[] | undefined {
    const waiting = new Map(tasks.map((task) => [task, this.upstream(task).size]));
    const open = tasks.filter((task) => waiting.get(task) === 0);
    for (let task = open.pop(); task !== undefined; task = open.pop()) {
      waiting.delete(task);
      for (const next of this.downstream(task)) {
        const left = (waiting.get(next) ?? 0) - 1;
        waiting.set(next, left);
        if (left === 0) open.push(next);
      }
    }
    // What is left has an upstream task that is left, too: walking upstream must come back to where it was.
    const path: TaskNode[] = [];
    let task = waiting.keys().next().value;
    while (task !== undefined) {
      const start = path.indexOf(task);
      if (start !== -1) return fromFirst(path.slice(start).reverse(), tasks);
      path.push(task);
      task = [...this.upstream(task)].find((before) => waiting.has(before));
    }
    return undefined;
  }
}

/** The same cycle, beginning at its task that stands first in the file. */
function fromFirst(cycle: readonly TaskNode[], tasks: readonly TaskNode[]): readonly TaskNode[] {
  const members = new Set(cycle);
  const first = tasks.find((candidate) => members.has(candidate));
  const start = cycle.findIndex((task) => task === first);
  return [...cycle.slice(start), ...cycle.slice(0, start)];
}

function link(edges: Map<TaskNode, Set<TaskNode>>, from: TaskNode, to: TaskNode): void {
  const set = edges.get(from);
  if (set === undefined) edges.set(from, new Set([to]));
  else set.add(to);
}
