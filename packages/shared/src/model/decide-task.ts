// What becomes of one task instance that nobody has yet: it goes, waits, or ends without running. Pure: reads the
// snapshot it is given and nothing else. The scheduler acts on the answer; `explain` shows its reasons.
import type { BranchDecision } from "@millrace/sdk/runtime";
import { sayCause, type Cause } from "./cause.ts";
import type { DagGraph, TaskNode } from "./dag-graph.ts";
import { heldByPast, type PastView } from "./past.ts";
import { isFinished, type TaskState } from "./task-state.ts";
import { addUpstream, judgeTriggerRule, noUpstream } from "./trigger-rule.ts";

export interface TaskSnapshot {
  readonly taskId: string;
  readonly mapIndex: number;
  readonly state: TaskState;
  /** Only for up_for_retry and up_for_reschedule: whether its delay is over, by the database's clock. */
  readonly isDue: boolean;
  readonly branchDecision: BranchDecision | null;
  /** It ended before something of its run was last cleared. */
  readonly endedBeforeClear?: boolean;
}

export type TaskDecision =
  | { readonly kind: "schedule" }
  /** An empty task: done without a worker. */
  | { readonly kind: "complete" }
  | { readonly kind: "skipped" | "upstream_failed" | "removed"; readonly reason: string }
  | { readonly kind: "wait"; readonly reason: string };

/** Task instances of the same run by task id: at least those that the task watches. */
export type RunView = (taskId: string) => readonly TaskSnapshot[];

const NO_PAST: PastView = () => undefined;

/** A decision with everything that speaks for it; only "schedule" and "complete" have no cause. */
export interface Judgement {
  readonly kind: TaskDecision["kind"];
  readonly causes: readonly Cause[];
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
  const { kind, causes } = judgeTask(graph, node, ti, view, past, detail);
  const [first] = causes;
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
  if (ti.state === "up_for_retry" && !ti.isDue) return because("wait", { kind: "retry_delay" });
  if (ti.state === "up_for_reschedule" && !ti.isDue) return because("wait", { kind: "poke_delay" });
  const decision =
    skippedByBranch(graph, node, view) ?? heldBySetup(node, view) ?? byTriggerRule(graph, node, ti, view, detail);
  const held = heldByPast(node, past(node.spec.taskId), graph.spec.catchup === true);
  if (held === undefined) return decision;
  if (decision.kind === "wait") return { kind: "wait", causes: [...decision.causes, held] };
  const goes = decision.kind === "schedule" || decision.kind === "complete";
  const waits = goes || (decision.kind === "skipped" && node.spec.waitForPastDependsBeforeSkipping);
  return waits ? because("wait", held) : decision;
}

const because = (kind: Judgement["kind"], cause: Cause): Judgement => ({ kind, causes: [cause] });

function skippedByBranch(graph: DagGraph, node: TaskNode, view: RunView): Judgement | undefined {
  const { taskId } = node.spec;
  for (const id of node.shortCircuits) {
    if (view(id).some((up) => up.state === "success" && up.branchDecision?.kind === "skip_all")) {
      return because("skipped", { kind: "cut_short", by: id });
    }
  }
  for (const id of node.upstream) {
    // What was set up is torn down, wherever the DAG was cut short.
    if (node.spec.isTeardown && graph.tasks.get(id)?.spec.branch === "short_circuit") continue;
    for (const up of view(id)) {
      const decision = up.state === "success" ? up.branchDecision : null;
      if (decision?.kind === "skip_all") {
        return because("skipped", { kind: "cut_short", by: id });
      }
      if (decision?.kind === "follow" && !decision.taskIds.includes(taskId)) {
        return because("skipped", { kind: "branch_not_taken", by: id });
      }
    }
  }
  return undefined;
}

function heldBySetup(node: TaskNode, view: RunView): Judgement | undefined {
  if (node.indirectSetups.length === 0) return undefined;
  const setups = node.indirectSetups.flatMap((id) => view(id));
  const on = (kind: Judgement["kind"], { taskId, state }: TaskSnapshot) =>
    because(kind, { kind: "setup", taskId, state });
  const failed = setups.find((s) => s.state === "failed" || s.state === "upstream_failed");
  if (failed !== undefined) return on("upstream_failed", failed);
  const skipped = setups.find((s) => s.state === "skipped");
  if (skipped !== undefined) return on("skipped", skipped);
  const open = setups.find((s) => s.state !== "success");
  return open === undefined ? undefined : on("wait", open);
}

function byTriggerRule(graph: DagGraph, node: TaskNode, ti: TaskSnapshot, view: RunView, detail: Detail): Judgement {
  const counts = noUpstream();
  for (const id of node.upstream) {
    const isSetup = graph.tasks.get(id)?.spec.isSetup ?? false;
    for (const up of view(id)) addUpstream(counts, up.state, isSetup);
  }
  const rule = node.spec.triggerRule;
  const verdict = judgeTriggerRule(rule, counts, ti);
  if (verdict === "wait" && detail === "brief") return WAIT;
  if (verdict !== "pass") {
    const upstreams = node.upstream.flatMap((id) =>
      view(id).map(({ taskId, mapIndex, state }) => ({ taskId, mapIndex, state })),
    );
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
