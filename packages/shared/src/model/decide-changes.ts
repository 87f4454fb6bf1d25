// Everything that follows in one run from what is known of it: each decidable task instance among the candidates, and
// then whomever its end concerns, until nothing more follows. Pure. When a task is needed that was not loaded it is named
// in `missing`; load it and ask again, and act on nothing before that: the answer may depend on it.
// INVARIANT: a task is decided after everything upstream of it. Some rules do not wait for the rest (one skipped upstream
// skips, one failed fails), so in another order the answer would depend on which of two upstreams was looked at first.
import type { DagGraph, TaskNode } from "./dag-graph.ts";
import { decideTask, type RunView, type TaskDecision, type TaskSnapshot } from "./decide-task.ts";
import { mapLength, resize, type Expansion } from "./mapping.ts";
import type { PastView } from "./past.ts";
import { isDecidable, isFinished, type TaskState } from "./task-state.ts";

export interface Change<T extends TaskSnapshot = TaskSnapshot> {
  readonly ti: T;
  readonly to: TaskState;
  readonly reason: string;
}

export interface RunChanges<T extends TaskSnapshot = TaskSnapshot> {
  readonly changes: readonly Change<T>[];
  /** What becomes of mapped tasks first: make it so and ask again, the instances that come of it are to be decided as well. */
  readonly expansions: readonly Expansion<T>[];
  readonly missing: ReadonlySet<string>;
}

/** @param known by task id; a task without any task instance is there with an empty list */
export function decideChanges<T extends TaskSnapshot>(
  graph: DagGraph,
  known: ReadonlyMap<string, readonly T[]>,
  candidates: Iterable<string>,
  past?: PastView,
): RunChanges<T> {
  // What was changed lies over what is known; most looks change nothing or one task.
  let changed: Map<string, readonly T[]> | undefined;
  const view: RunView = (taskId) => changed?.get(taskId) ?? known.get(taskId) ?? NONE;
  const changes: Change<T>[] = [];
  const expansions: Expansion<T>[] = [];
  let missing: Set<string> | undefined;
  const open = new Agenda();
  for (const id of candidates) open.add(graph.tasks.get(id));

  for (let node = open.next(); node !== undefined; node = open.next()) {
    const { taskId } = node.spec;
    const own = changed?.get(taskId) ?? known.get(taskId);
    if (own === undefined) {
      (missing ??= new Set()).add(taskId);
      continue;
    }
    if (!own.some((ti) => isDecidable(ti.state))) continue;
    let isComplete = true;
    for (const id of node.watches) {
      if (known.has(id)) continue;
      (missing ??= new Set()).add(id);
      isComplete = false;
    }
    if (!isComplete) continue;
    const resized = resizing(graph, node, own, view);
    expansions.push(...resized);
    // None of them looks at another, so that all are decided before the list of them is replaced.
    let decided: Map<TaskSnapshot, T> | undefined;
    let hasEnded = false;
    for (const ti of own) {
      if (!isDecidable(ti.state)) continue;
      if (resized.some((change) => change.kind === "collapse" && change.ti === ti)) continue;
      const decision = decideTask(graph, node, ti, view, past, "brief");
      if (decision.kind === "wait") continue;
      if (decision.kind === "expand") {
        expansions.push({ kind: "add", ti, from: 0, length: decision.length });
        continue;
      }
      const to = stateAfter(decision.kind, node, ti);
      changes.push({ ti, to, reason: "reason" in decision ? decision.reason : "" });
      decided ??= new Map();
      decided.set(ti, { ...ti, state: to });
      hasEnded ||= isFinished(to);
    }
    const after = decided;
    if (after === undefined) continue;
    changed ??= new Map();
    changed.set(
      taskId,
      own.map((other) => after.get(other) ?? other),
    );
    if (hasEnded) for (const id of node.watchedBy) open.add(graph.tasks.get(id));
  }
  return { changes, expansions, missing: missing ?? NOTHING };
}

/** What the lists say now against the instances that an earlier reading of them left. */
function resizing<T extends TaskSnapshot>(
  graph: DagGraph,
  node: TaskNode,
  instances: readonly T[],
  view: RunView,
): readonly Expansion<T>[] {
  if (node.mapping === undefined) {
    // Of a task that was mapped in the version from which its run was moved.
    const first = instances.find((ti) => ti.mapIndex === 0 && isDecidable(ti.state));
    return first === undefined ? NONE : [{ kind: "collapse", ti: first }];
  }
  const isExpanded = instances.some((ti) => ti.mapIndex >= 0 && ti.state === "none");
  if (!isExpanded) return NONE;
  const length = mapLength(node.mapping, graph.maxMapLength, view);
  return length.kind === "length" ? resize(instances, length.length) : [];
}

const NONE: readonly never[] = [];
const NOTHING: ReadonlySet<string> = new Set();

/** What a decision makes of a task instance. One that begins with a wait has no worker before it is over. */
export function stateAfter(
  decision: Exclude<TaskDecision["kind"], "wait" | "expand">,
  node: TaskNode,
  ti: TaskSnapshot,
): TaskState {
  if (decision === "complete") return "success";
  if (decision !== "schedule") return decision;
  return node.spec.startTrigger !== undefined && ti.state !== "up_for_reschedule" ? "deferred" : "scheduled";
}

/** Tasks to look at, each once, in the order of their ranks. */
class Agenda {
  /** The lowest rank last. */
  readonly #nodes: TaskNode[] = [];

  add(node: TaskNode | undefined): void {
    if (node === undefined) return;
    let [from, to] = [0, this.#nodes.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((this.#nodes[middle]?.rank ?? 0) > node.rank) from = middle + 1;
      else to = middle;
    }
    if (this.#nodes[from] !== node) this.#nodes.splice(from, 0, node);
  }

  next(): TaskNode | undefined {
    return this.#nodes.pop();
  }
}
