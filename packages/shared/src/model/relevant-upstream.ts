// What a task instance sees of the tasks that it depends on: all instances of a mapped one, or within a mapped group the
// one of its own index. A mapped task can have thousands, and thousands can look at it: what is made of its instances is
// kept with the list that holds them. INVARIANT: such a list is never changed, only replaced.
import type { WatchedTask } from "./cause.ts";
import type { DagGraph, TaskNode } from "./dag-graph.ts";
import type { RunView, TaskSnapshot } from "./decide-task.ts";
import type { TaskState } from "./task-state.ts";
import type { StateTally } from "./trigger-rule.ts";

export function relevantOf(graph: DagGraph, node: TaskNode, ti: TaskSnapshot, view: RunView): RunView {
  if (node.mapGroup === undefined || ti.mapIndex < 0) return view;
  return (id) => {
    const instances = view(id);
    return graph.tasks.get(id)?.mapGroup === node.mapGroup ? atIndex(instances, ti.mapIndex, id) : instances;
  };
}

const places = new WeakMap<readonly TaskSnapshot[], ReadonlyMap<number, readonly TaskSnapshot[]>>();

/** One that ended unexpanded stands for every index. One that is still to come is waited for. */
function atIndex(instances: readonly TaskSnapshot[], mapIndex: number, taskId: string): readonly TaskSnapshot[] {
  let byIndex = places.get(instances);
  if (byIndex === undefined) {
    byIndex = new Map(instances.map((ti) => [ti.mapIndex, [ti]]));
    places.set(instances, byIndex);
  }
  return (
    byIndex.get(mapIndex) ?? byIndex.get(-1) ?? [{ taskId, mapIndex, state: "none", isDue: true, branchDecision: null }]
  );
}

export interface Tally extends StateTally {
  /** One entry for each state, in which its instances are counted. */
  readonly watched: readonly WatchedTask[];
}

const tallies = new WeakMap<readonly TaskSnapshot[], Tally>();

/** The instances by state. Those for which there is no element any more are left out, as if they had never been. */
export function tallyOf(instances: readonly TaskSnapshot[]): Tally {
  let tally = tallies.get(instances);
  if (tally === undefined) {
    tally = count(instances);
    tallies.set(instances, tally);
  }
  return tally;
}

function count(instances: readonly TaskSnapshot[]): Tally {
  const by: Partial<Record<TaskState, number>> = {};
  const watched = new Map<TaskState, WatchedTask>();
  let total = 0;
  for (const { taskId, mapIndex, state, count: more = 1 } of instances) {
    if (state === "removed" && mapIndex >= 0) continue;
    total += more;
    const sum = (by[state] ?? 0) + more;
    by[state] = sum;
    watched.set(state, { taskId, mapIndex, state, ...(sum > 1 ? { count: sum } : {}) });
  }
  return { total, by, watched: [...watched.values()] };
}
