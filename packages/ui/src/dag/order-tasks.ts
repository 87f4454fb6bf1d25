// The order of the grid's lines: upstream before downstream, and a branch stays together instead of being dealt out by
// level. Tasks that are equal in that keep the order of the file.

export interface Node {
  readonly task_id: string;
  readonly upstream: readonly string[];
}

export interface Placed<N extends Node> {
  readonly node: N;
  /** Longest way from a task without upstream. */
  readonly depth: number;
}

export function orderTasks<N extends Node>(nodes: readonly N[]): Placed<N>[] {
  const byId = new Map(nodes.map((node) => [node.task_id, node]));
  const upstreamOf = (node: N): N[] =>
    node.upstream.map((id) => byId.get(id)).filter((found): found is N => found !== undefined);
  const downstream = new Map<string, N[]>();
  for (const node of nodes) {
    for (const upper of upstreamOf(node)) {
      const below = downstream.get(upper.task_id) ?? [];
      below.push(node);
      downstream.set(upper.task_id, below);
    }
  }
  const depths = new Map<string, number>();
  const placed: Placed<N>[] = [];
  // A stack of our own: a chain of thousands of tasks is deeper than calls may nest.
  const waiting = nodes.filter((node) => upstreamOf(node).length === 0).reverse();
  while (waiting.length > 0) {
    const node = waiting.pop();
    if (node === undefined || depths.has(node.task_id)) continue;
    const above = upstreamOf(node);
    if (above.some((upper) => !depths.has(upper.task_id))) continue; // Its last upstream will bring it.
    const depth = Math.max(-1, ...above.map((upper) => depths.get(upper.task_id) ?? 0)) + 1;
    depths.set(node.task_id, depth);
    placed.push({ node, depth });
    waiting.push(...(downstream.get(node.task_id) ?? []).toReversed());
  }
  return placed;
}
