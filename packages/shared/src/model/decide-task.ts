// What becomes of one task instance that nobody has yet: it goes, waits, or ends without running. Pure: reads the
// snapshot it is given and nothing else. The scheduler acts on the answer; `explain` shows its reasons.
import type { BranchDecision } from "@millrace/sdk/runtime";
import { sayCause, type Cause } from "./cause.ts";
import type { DagGraph, TaskNode } from "./dag-graph.ts";
import { heldByPast, type PastView } from "./past.ts";
import { mapLength, type ListLength } from "./mapping.ts";
import { relevantOf, tallyOf } from "./relevant-upstream.ts";
import { isFinished, type TaskState } from "./task-state.ts";
import { addTally, judgeTriggerRule, noUpstream } from "./trigger-rule.ts";

export interface TaskSnapshot {
  readonly taskId: string;
  readonly mapIndex: number;
  readonly state: TaskState;
  /** Only for up_for_retry and up_for_reschedule: whether its delay is over, by the database's clock. */
  readonly isDue: boolean;
  readonly branchDecision: BranchDecision | null;
  /** It ended before something of its run was last cleared. */
  readonly endedBeforeClear?: boolean;
  /** How many instances of its task that nothing tells apart it stands for. Default 1. */
  readonly count?: number;
  /** Of a task over whose value others are mapped: the lengths of those lists, by `listKey`. On one of its instances. */
  readonly lists?: Readonly<Record<string, ListLength>>;
}

export type TaskDecision =
  | { readonly kind: "schedule" }
  /** An empty task: done without a worker. */
  | { readonly kind: "complete" }
  /** The unexpanded task becomes this many instances. */
  | { readonly kind: "expand"; readonly length: number }
  | { readonly kind: "skipped" | "upstream_failed" | "removed" | "failed"; readonly reason: string }
  | { readonly kind: "wait"; readonly reason: string };

/** Task instances of the same run by task id: at least those that the task watches. */
export type RunView = (taskId: string) => readonly TaskSnapshot[];

const NO_PAST: PastView = () => undefined;

/** A decision with everything that speaks for it; only those to go on have no cause. */
export interface Judgement {
  readonly kind: TaskDecision["kind"];
  readonly causes: readonly Cause[];
  /** With "expand". */
  readonly length?: number;
}

/** `brief` leaves out why a task waits for its upstreams, which is most of the work, and which only people read. */
type Detail = "full" | "brief";

/** @param past the run before, for tasks that depend on it; without it there is none */
export function decideTask(
  graph: DagGraph,
  node: TaskNode,
  ti: TaskSnapshot,
  view: RunView,
  past: PastView = NO_PAST,
  detail: Detail = "full",
): TaskDecision {
  const { kind, causes, length = 0 } = judgeTask(graph, node, ti, view, past, detail);
  const [first] = causes;
  if (kind === "expand") return { kind, length };
  return kind === "schedule" || kind === "complete"
    ? { kind }
    : { kind, reason: first === undefined ? "" : sayCause(first) };
}

/** As decideTask, with the causes as values. */
export function judgeTask(
  graph: DagGraph,
  node: TaskNode,
  ti: TaskSnapshot,
  view: RunView,
  past: PastView = NO_PAST,
  detail: Detail = "full",
): Judgement {
  // Index 0 becomes the one that stands for the task.
  if (node.mapping === undefined && ti.mapIndex > 0) return because("removed", { kind: "not_mapped" });
  if (ti.state === "up_for_retry" && !ti.isDue) return because("wait", { kind: "retry_delay" });
  if (ti.state === "up_for_reschedule" && !ti.isDue) return because("wait", { kind: "poke_delay" });
  const relevant = relevantOf(graph, node, ti, view);
  const decision =
    skippedByBranch(graph, node, relevant) ??
    heldBySetup(node, relevant) ??
    (node.mapping !== undefined && ti.state === "none"
      ? byMapping(graph, node, ti, view, relevant, detail)
      : byTriggerRule(graph, node, ti, relevant, detail));
  const held = heldByPast(node, past(node.spec.taskId), graph.spec.catchup === true);
  if (held === undefined) return decision;
  if (decision.kind === "wait") return { kind: "wait", causes: [...decision.causes, held] };
  const goes = decision.kind === "schedule" || decision.kind === "complete" || decision.kind === "expand";
  const waits = goes || (decision.kind === "skipped" && node.spec.waitForPastDependsBeforeSkipping);
  return waits ? because("wait", held) : decision;
}

const because = (kind: Judgement["kind"], cause: Cause): Judgement => ({ kind, causes: [cause] });

function skippedByBranch(graph: DagGraph, node: TaskNode, view: RunView): Judgement | undefined {
  const { taskId } = node.spec;
  for (const id of node.shortCircuits) {
    if (decidedBy(view(id), (decision) => decision.kind === "skip_all")) {
      return because("skipped", { kind: "cut_short", by: id });
    }
  }
  for (const id of node.upstream) {
    // What was set up is torn down, wherever the DAG was cut short.
    if (node.spec.isTeardown && graph.tasks.get(id)?.spec.branch === "short_circuit") continue;
    const deciders = view(id);
    if (decidedBy(deciders, (decision) => decision.kind === "skip_all")) {
      return because("skipped", { kind: "cut_short", by: id });
    }
    if (decidedBy(deciders, (decision) => decision.kind === "follow" && !decision.taskIds.includes(taskId))) {
      return because("skipped", { kind: "branch_not_taken", by: id });
    }
  }
  return undefined;
}

/** Whether the task decided so; a mapped one did when every instance of it that succeeded did. */
function decidedBy(deciders: readonly TaskSnapshot[], so: (decision: BranchDecision) => boolean): boolean {
  let found = false;
  for (const { state, branchDecision } of deciders) {
    if (state !== "success") continue;
    if (branchDecision === null || !so(branchDecision)) return false;
    found = true;
  }
  return found;
}

function heldBySetup(node: TaskNode, view: RunView): Judgement | undefined {
  if (node.indirectSetups.length === 0) return undefined;
  const setups = node.indirectSetups.flatMap((id) => view(id)).filter((setup) => !isGone(setup));
  const on = (kind: Judgement["kind"], { taskId, state }: TaskSnapshot) =>
    because(kind, { kind: "setup", taskId, state });
  const failed = setups.find((s) => s.state === "failed" || s.state === "upstream_failed");
  if (failed !== undefined) return on("upstream_failed", failed);
  const skipped = setups.find((s) => s.state === "skipped");
  if (skipped !== undefined) return on("skipped", skipped);
  const open = setups.find((s) => s.state !== "success");
  return open === undefined ? undefined : on("wait", open);
}

/**
 * Before its instances exist, and while they have not begun: the lists must be there, and say how many there are. The
 * unexpanded task of a group becomes instances as soon as that is known, and its trigger rule is judged for each of them.
 */
function byMapping(
  graph: DagGraph,
  node: TaskNode,
  ti: TaskSnapshot,
  view: RunView,
  relevant: RunView,
  detail: Detail,
): Judgement {
  const { mapping = { kind: "expand", lists: [] } } = node;
  const length = mapLength(mapping, graph.maxMapLength, view);
  if (length.kind === "open") return because("wait", length.cause);
  if (length.kind === "length" && ti.mapIndex >= length.length) {
    return because("removed", { kind: "list_too_short", length: length.length });
  }
  const isUnexpanded = ti.mapIndex < 0;
  const isOfGroup =
    node.mapGroup !== undefined && !node.upstream.every((id) => isLeftUnexpanded(graph, node, view(id), id));
  if (isUnexpanded && isOfGroup && length.kind === "length" && length.length > 0) return expand(length.length);
  const decision = byTriggerRule(graph, node, ti, relevant, detail);
  const goes = decision.kind === "schedule" || decision.kind === "complete";
  if (length.kind === "never") {
    return goes || (decision.kind === "wait" && length.to === "failed") ? because(length.to, length.cause) : decision;
  }
  if (!isUnexpanded) return decision;
  if (length.length === 0 && decision.kind !== "upstream_failed" && (goes || node.mapGroup !== undefined)) {
    return because("skipped", { kind: "list_too_short", length: 0 });
  }
  return goes ? expand(length.length) : decision;
}

const expand = (length: number): Judgement => ({ kind: "expand", causes: [], length });

/** It ended without having been expanded: skipped, or failed, as a whole. A task outside of the group always counts as that. */
function isLeftUnexpanded(graph: DagGraph, node: TaskNode, instances: readonly TaskSnapshot[], id: string): boolean {
  if (graph.tasks.get(id)?.mapGroup !== node.mapGroup) return true;
  return instances.every((up) => up.mapIndex < 0 && isFinished(up.state));
}

/** An instance of a mapped task for which there is no element any more: nothing depends on it. */
const isGone = (ti: TaskSnapshot): boolean => ti.state === "removed" && ti.mapIndex >= 0;

function byTriggerRule(graph: DagGraph, node: TaskNode, ti: TaskSnapshot, view: RunView, detail: Detail): Judgement {
  const counts = noUpstream();
  for (const id of node.upstream) {
    addTally(counts, tallyOf(view(id)), graph.tasks.get(id)?.spec.isSetup ?? false);
  }
  const rule = node.spec.triggerRule;
  const verdict = judgeTriggerRule(rule, counts, ti);
  if (verdict === "wait" && detail === "brief") return WAIT;
  if (verdict !== "pass") {
    const upstreams = node.upstream.flatMap((id) => tallyOf(view(id)).watched);
    return because(verdict, { kind: "trigger_rule", rule, upstreams });
  }
  for (const id of node.teardownScope) {
    const open = view(id).find((up) => !isFinished(up.state));
    if (open !== undefined) return because("wait", { kind: "teardown_scope", taskId: open.taskId, state: open.state });
  }
  return isEmpty(node) ? COMPLETE : SCHEDULE;
}

const SCHEDULE: Judgement = { kind: "schedule", causes: [] };
const COMPLETE: Judgement = { kind: "complete", causes: [] };
const WAIT: Judgement = { kind: "wait", causes: [] };

const isEmpty = ({ spec }: TaskNode): boolean =>
  spec.operator === "empty" && spec.callbacks.length === 0 && spec.outlets === undefined;
