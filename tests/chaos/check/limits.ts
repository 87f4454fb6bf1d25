// Limits and dependencies, in every committed state: the changes are gone through in the order of their commits.
import { PARALLELISM } from "../rig/fleet.ts";
import { DAGS, OCCUPYING, POOLS, type ExpectedTask } from "./expected.ts";
import type { Change } from "./history.ts";
import type { Invariant } from "./invariants.ts";

/** Adds up, and says when a sum is over its limit. */
class Sums {
  readonly over: string[] = [];
  readonly #sums = new Map<string, number>();

  add(what: string, by: number, limit: number, when: number): void {
    const sum = (this.#sums.get(what) ?? 0) + by;
    this.#sums.set(what, sum);
    if (by > 0 && sum > limit) this.over.push(`${what}: ${sum} of ${limit} at ${new Date(when / 1000).toISOString()}`);
  }
}

/** What one transaction did is there at once: it gives before it takes. */
function byCommit<T extends { readonly committed: number }>(changes: readonly T[], gives: (change: T) => boolean): T[] {
  return changes.toSorted((a, b) => a.committed - b.committed || Number(gives(b)) - Number(gives(a)));
}

export const limitsHold: Invariant = ({ history }) => {
  const sums = new Sums();
  const gives = (change: Change) => OCCUPYING.has(change.from) && !OCCUPYING.has(change.to);
  for (const change of byCommit(history.changes, gives)) {
    const by = Number(OCCUPYING.has(change.to)) - Number(OCCUPYING.has(change.from));
    if (by === 0) continue;
    const dag = DAGS[change.dagId];
    const task: ExpectedTask | undefined = dag?.tasks[change.taskId];
    if (dag === undefined || task === undefined) return [`the load has no ${change.dagId}.${change.taskId}`];
    const pool = task.pool ?? "default_pool";
    const at = change.committed;
    sums.add("parallelism", by, PARALLELISM, at);
    sums.add(`pool ${pool}`, by * (task.slots ?? 1), POOLS[pool] ?? 0, at);
    sums.add(`tasks of ${change.dagId}`, by, dag.maxActiveTasks, at);
    if (task.maxActivePerDag !== undefined) sums.add(`${change.dagId}.${change.taskId}`, by, task.maxActivePerDag, at);
  }
  for (const change of byCommit(history.runChanges, (c) => c.from === "running")) {
    const by = Number(change.to === "running") - Number(change.from === "running");
    sums.add(`runs of ${change.dagId}`, by, DAGS[change.dagId]?.maxActiveRuns ?? 0, change.committed);
  }
  return sums.over;
};

/** When a task is let go, what it depends on has ended as its rule asks. */
export const dependenciesHold: Invariant = ({ history }) => {
  const found: string[] = [];
  /** Of each task the states of its instances, by their indexes. */
  const states = new Map<string, Map<number, string>>();
  const at = (change: Change, taskId: string) => `${change.dagId}/${change.runId}/${taskId}`;
  for (const change of byCommit(history.changes, (c) => c.to !== "scheduled")) {
    const task = DAGS[change.dagId]?.tasks[change.taskId];
    const upstream = (task?.upstream ?? []).flatMap((id) => [...(states.get(at(change, id))?.values() ?? ["none"])]);
    if (change.from === "none" && change.to === "scheduled" && !allows(task?.rule ?? "all_success", upstream))
      found.push(`${at(change, change.taskId)} was scheduled while its upstream was ${upstream.join(", ")}`);
    const own = states.get(at(change, change.taskId)) ?? new Map<number, string>();
    states.set(at(change, change.taskId), own.set(change.mapIndex, change.to));
  }
  return found;
};

function allows(rule: NonNullable<ExpectedTask["rule"]>, upstream: readonly string[]): boolean {
  const ended = upstream.every((s) => ["success", "failed", "skipped", "upstream_failed"].includes(s));
  if (rule === "all_success") return upstream.every((s) => s === "success");
  if (rule === "all_done") return ended;
  const failed = upstream.some((s) => s === "failed" || s === "upstream_failed");
  return ended && !failed && upstream.includes("success");
}
