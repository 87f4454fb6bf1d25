// Everything that follows in one run from what is known of it: each decidable task instance among the candidates, and
// then whomever its end concerns, until nothing more follows. Pure. When a task is needed that was not loaded it is named
// in `missing`; load it and ask again: the answer for the rest stays the same.
import type { DagGraph } from "./dag-graph.ts";
import { decideTask, type RunView, type TaskSnapshot } from "./decide-task.ts";
import { DECIDABLE_TASK_STATES, isFinished, type TaskState } from "./task-state.ts";

export interface Change<T extends TaskSnapshot = TaskSnapshot> {
  readonly ti: T;
  readonly to: TaskState;
  readonly reason: string;
}

export interface RunChanges<T extends TaskSnapshot = TaskSnapshot> {
  readonly changes: readonly Change<T>[];
  readonly missing: ReadonlySet<string>;
}

/** @param known by task id; a task without any task instance is there with an empty list */
export function decideChanges<T extends TaskSnapshot>(
  graph: DagGraph,
  known: ReadonlyMap<string, readonly T[]>,
  candidates: Iterable<string>,
): RunChanges<T> {
  const states = new Map<string, readonly T[]>(known);
  const view: RunView = (taskId) => states.get(taskId) ?? [];
  const changes: Change<T>[] = [];
  const missing = new Set<string>();
  const open = [...new Set(candidates)];
  const isOpen = new Set(open);

  for (let taskId = open.pop(); taskId !== undefined; taskId = open.pop()) {
    isOpen.delete(taskId);
    const node = graph.tasks.get(taskId);
    if (node === undefined) continue;
    if (!states.has(taskId)) {
      missing.add(taskId);
      continue;
    }
    const decidable = (states.get(taskId) ?? []).filter(isDecidable);
    if (decidable.length === 0) continue;
    const unknown = node.watches.filter((id) => !states.has(id));
    if (unknown.length > 0) {
      for (const id of unknown) missing.add(id);
      continue;
    }
    for (const ti of decidable) {
      const decision = decideTask(graph, node, ti, view);
      if (decision.kind === "wait") continue;
      const to = decision.kind === "schedule" ? "scheduled" : decision.kind === "complete" ? "success" : decision.kind;
      changes.push({ ti, to, reason: "reason" in decision ? decision.reason : "" });
      states.set(
        taskId,
        (states.get(taskId) ?? []).map((other) => (other === ti ? { ...ti, state: to } : other)),
      );
      if (!isFinished(to)) continue;
      for (const id of node.watchedBy) {
        if (!isOpen.has(id)) {
          isOpen.add(id);
          open.push(id);
        }
      }
    }
  }
  return { changes, missing };
}

const isDecidable = (ti: TaskSnapshot): boolean => (DECIDABLE_TASK_STATES as readonly string[]).includes(ti.state);
