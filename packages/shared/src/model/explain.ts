// Why a run or a task instance is where it is, said by the same deciders that move it. Pure: one snapshot in, conditions
// out. INVARIANT: whatever waits has at least one condition.
import { refusalsOf, type Candidate, type Occupancy, type PoolLimits, type Refusal } from "./admission.ts";
import { canStart } from "./can-start.ts";
import type { Cause } from "./cause.ts";
import type { Condition } from "./conditions.ts";
import type { DagGraph, TaskNode } from "./dag-graph.ts";
import { decideChanges, stateAfter } from "./decide-changes.ts";
import { judgeTask, type Judgement, type RunView, type TaskSnapshot } from "./decide-task.ts";
import { whyDeferred, type AwaitedRun } from "./explain-wait.ts";
import { failFast } from "./fail-fast.ts";
import type { PastView } from "./past.ts";
import type { RunState } from "./run-state.ts";
import { viewOf } from "./run-view.ts";
import { isDecidable, type TaskState } from "./task-state.ts";

/** Instants are milliseconds since the epoch, by the database's clock; lengths of time are seconds. */
export interface TaskSituation extends TaskSnapshot {
  readonly id: string;
  readonly pool: string;
  readonly poolSlots: number;
  readonly queue: string;
  readonly priorityWeight: number;
  readonly since: number | null;
  readonly queuedAt: number | null;
  /** When its message was sent last. */
  readonly sentAt: number | null;
  readonly startedAt: number | null;
  readonly retryAt: number | null;
  readonly worker: string | null;
  readonly heartbeatAge: number | null;
  readonly mark: TaskState | null;
  readonly reason: string | null;
  readonly trigger: string | null;
  readonly triggerQueue: string | null;
  /** What it asks people. */
  readonly question: string | null;
  readonly triggerTimeout: number | null;
}

export interface Situation {
  readonly now: number;
  readonly limits: {
    readonly parallelism: number;
    readonly redispatchAfter: number;
    readonly queuedTimeout: number;
    readonly heartbeatTimeout: number;
  };
  readonly dag: {
    readonly dagId: string;
    readonly isPaused: boolean;
    readonly maxActiveRuns: number;
    readonly maxActiveTasks: number;
  };
  readonly run: {
    readonly id: number;
    readonly runId: string;
    readonly versionId: string;
    readonly state: RunState;
    readonly reason: string | null;
    readonly runAfter: number;
    readonly logicalDate: number | null;
    readonly since: number | null;
  };
  /** The backfill under whose limit the run starts, instead of its DAG's. */
  readonly backfill?: { readonly id: number; readonly maxActiveRuns: number; readonly isPaused: boolean } | undefined;
  /** Runs that hold the places of that limit, and how many queued ones start before this one. */
  readonly rivals: { readonly running: readonly string[]; readonly ahead: number };
  readonly graph: DagGraph;
  readonly tasks: readonly TaskSituation[];
  readonly past: PastView | undefined;
  readonly pools: readonly PoolLimits[];
  readonly occupancy: readonly Occupancy[];
  readonly processes: {
    readonly schedulers: { readonly live: number; readonly lastSeen: number | null };
    readonly triggerers: readonly { readonly queues: readonly string[] }[];
    readonly workers: readonly {
      readonly queues: readonly string[];
      readonly concurrency: number;
      readonly running: number;
    }[];
  };
  /** By attempt, for those that are deferred: the runs that they wait for. */
  readonly awaited: ReadonlyMap<string, readonly AwaitedRun[]>;
  /** By attempt, for those that are scheduled: what of their pool goes first. */
  readonly ahead: ReadonlyMap<string, number>;
}

export function explainTaskInstance(s: Situation, ti: TaskSituation): readonly Condition[] {
  const node = s.graph.tasks.get(ti.taskId);
  switch (ti.state) {
    case "none":
    case "up_for_retry":
    case "up_for_reschedule":
      return beforeDecision(s, ti, node);
    case "scheduled":
      return beforeAdmission(s, ti, node);
    case "queued":
      return beforeClaim(s, ti);
    case "running":
      return [{ kind: "running", since: ti.startedAt, ...holder(s, ti) }];
    case "restarting":
      return [{ kind: "stopping", mark: "none", ...holder(s, ti) }];
    case "shutdown":
      return [{ kind: "stopping", mark: ti.mark ?? "failed", ...holder(s, ti) }];
    case "deferred":
      return whyDeferred(s, ti);
    default:
      return [{ kind: "finished", state: ti.state, reason: ti.reason }, ...whyFinished(s, ti, node)];
  }
}

export function explainRun(s: Situation): readonly Condition[] {
  const { state, reason } = s.run;
  if (state === "success" || state === "failed") return [{ kind: "run_finished", state, reason }];
  if (state === "running") {
    const tasks: Partial<Record<TaskState, number>> = {};
    for (const ti of s.tasks) tasks[ti.state] = (tasks[ti.state] ?? 0) + 1;
    return [{ kind: "run_running", tasks }, ...schedulerOf(s)];
  }
  const holds = [...runHolds(s), ...blocked(s), ...schedulerOf(s)];
  return holds.length > 0 ? holds : [{ kind: "run_starts" }];
}

/** The earliest that anything can happen, as far as the clock alone decides; null when it is not what is waited for. */
export function earliestOf(conditions: readonly Condition[]): number | null {
  const times = conditions.flatMap((c) =>
    c.kind === "retry_delay" || c.kind === "poke_delay" || c.kind === "run_after_in_future" || c.kind === "next_run"
      ? (c.until ?? [])
      : [],
  );
  return times.length === 0 ? null : Math.max(...times);
}

const PAUSED = { kind: "dag_paused" } as const;

const schedulerOf = ({ processes: { schedulers } }: Situation): Condition[] =>
  schedulers.live > 0 ? [] : [{ kind: "no_live_scheduler", lastSeen: schedulers.lastSeen }];

/** What holds a queued run back whatever its tasks could do. */
function runHolds({ dag, run, backfill, rivals, now }: Situation): Condition[] {
  const holds: Condition[] = [];
  if (dag.isPaused) holds.push(PAUSED);
  if (run.runAfter > now) holds.push({ kind: "run_after_in_future", until: run.runAfter });
  if (backfill?.isPaused === true) holds.push({ kind: "backfill_paused", backfillId: backfill.id });
  if (backfill !== undefined && rivals.running.length >= backfill.maxActiveRuns) {
    holds.push({ kind: "backfill_queued_behind", backfillId: backfill.id, of: backfill.maxActiveRuns, ...rivals });
  }
  if (backfill === undefined && rivals.running.length >= dag.maxActiveRuns) {
    holds.push({ kind: "run_queued_behind", of: dag.maxActiveRuns, ...rivals });
  }
  return holds;
}

function blocked(s: Situation): Condition[] {
  if (s.graph.tasks.size === 0 || canStart(changesIn(s), s.tasks)) return [];
  const waiting = s.tasks.filter((ti) => isDecidable(ti.state)).map((ti) => ({ ti, judgement: judge(s, ti) }));
  const nameOf = ({ ti }: (typeof waiting)[number]) => ({ taskId: ti.taskId, mapIndex: ti.mapIndex });
  const pastOf = ({ judgement }: (typeof waiting)[number]) =>
    judgement?.causes.find((cause) => cause.kind === "depends_on_past");
  const byPast = waiting.filter((one) => pastOf(one) !== undefined);
  const runId = byPast.map(pastOf)[0]?.runId;
  if (runId !== undefined) return [{ kind: "run_blocked_by_past", runId, tasks: byPast.map(nameOf) }];
  return [{ kind: "run_blocked", tasks: waiting.map(nameOf) }];
}

function changesIn({ graph, tasks, past }: Situation): number {
  const known = new Map<string, TaskSituation[]>([...graph.tasks.keys()].map((id) => [id, []]));
  for (const ti of tasks) known.get(ti.taskId)?.push(ti);
  const { changes, expansions } = decideChanges(graph, known, graph.tasks.keys(), past);
  return changes.length + expansions.length;
}

function judge(s: Situation, ti: TaskSituation): Judgement | undefined {
  const node = s.graph.tasks.get(ti.taskId);
  return node === undefined ? undefined : judgeTask(s.graph, node, ti, viewIn(s), s.past);
}

const views = new WeakMap<readonly TaskSituation[], RunView>();
/** Made once for all task instances that are asked about. */
function viewIn({ tasks }: Situation): RunView {
  const view = views.get(tasks) ?? viewOf(tasks);
  views.set(tasks, view);
  return view;
}

function beforeDecision(s: Situation, ti: TaskSituation, node: TaskNode | undefined): readonly Condition[] {
  const { state, reason } = s.run;
  if (state === "success" || state === "failed") return [{ kind: "run_finished", state, reason }];
  if (node === undefined) return [{ kind: "task_removed", version: s.run.versionId }];
  const holds: Condition[] = state === "queued" ? runHolds(s) : [];
  if (failFast(s.graph, s.tasks)?.skip.includes(ti) === true) {
    const isTeardown = (id: string) => s.graph.tasks.get(id)?.spec.isTeardown === true;
    const failed = s.tasks.find(
      (other) => other.state === "failed" && other.endedBeforeClear !== true && !isTeardown(other.taskId),
    );
    if (failed !== undefined) holds.push({ kind: "fail_fast", taskId: failed.taskId });
  }
  const { kind, causes, length = 0 } = judgeTask(s.graph, node, ti, viewIn(s), s.past);
  holds.push(...schedulerOf(s));
  const conditions = [...holds, ...causes.map((cause) => withTime(cause, ti))];
  if (kind === "wait" || holds.length > 0) return conditions;
  if (kind === "expand") return [...conditions, { kind: "expanded_next", length }];
  return [...conditions, { kind: "decided_next", to: stateAfter(kind, node, ti) }];
}

const withTime = (cause: Cause, ti: TaskSituation): Condition =>
  cause.kind === "retry_delay" || cause.kind === "poke_delay" ? { kind: cause.kind, until: ti.retryAt } : cause;

function beforeAdmission(s: Situation, ti: TaskSituation, node: TaskNode | undefined): readonly Condition[] {
  const candidate: Candidate = {
    ...ti,
    epoch: 0,
    dagId: s.dag.dagId,
    dagRunId: s.run.id,
    logicalDate: s.run.logicalDate,
    runAfter: s.run.runAfter,
  };
  const refusals = refusalsOf(candidate, {
    parallelism: s.limits.parallelism,
    pools: s.pools,
    occupancy: s.occupancy,
    limitsOf: () => ({
      maxActiveTasks: s.dag.maxActiveTasks,
      maxActiveTisPerDag: node?.spec.maxActiveTisPerDag,
      maxActiveTisPerDagrun: node?.spec.maxActiveTisPerDagrun,
    }),
  });
  const count = s.ahead.get(ti.id) ?? 0;
  const conditions: Condition[] = [
    ...refusals.map((refusal) => ofRefusal(refusal, s, candidate)),
    ...(count === 0 ? [] : [{ kind: "ahead_of_it", count } as const]),
    ...schedulerOf(s),
  ];
  return conditions.length > 0 ? conditions : [{ kind: "queued_next" }];
}

function ofRefusal(refusal: Refusal, s: Situation, c: Candidate): Condition {
  const used = (counts: (entry: Occupancy) => boolean) =>
    s.occupancy.filter(counts).reduce((sum, entry) => sum + entry.count, 0);
  const isTask = (entry: Occupancy) => entry.dagId === c.dagId && entry.taskId === c.taskId;
  switch (refusal.limit) {
    case "parallelism":
      return { kind: "parallelism", of: refusal.of, used: used(() => true) };
    case "pool_missing":
      return { kind: "pool_missing", pool: refusal.pool };
    case "pool": {
      const { pool, of, needs } = refusal;
      if (needs > of) return { kind: "pool_too_small", pool, of, needs };
      return { kind: "pool_full", pool, of, used: refusal.used, needs };
    }
    case "max_active_tasks":
      return { kind: "max_active_tasks", of: refusal.of, used: used((entry) => entry.dagId === c.dagId) };
    case "max_active_tis_per_dag":
      return { kind: "max_active_tis_per_dag", of: refusal.of, used: used(isTask) };
    case "max_active_tis_per_dagrun":
      return {
        kind: "max_active_tis_per_dagrun",
        of: refusal.of,
        used: used((entry) => isTask(entry) && entry.dagRunId === c.dagRunId),
      };
  }
}

function beforeClaim({ processes, limits }: Situation, ti: TaskSituation): readonly Condition[] {
  const later = (from: number | null, seconds: number) => (from === null ? null : from + seconds * 1000);
  const unclaimed: Condition = {
    kind: "queued_unclaimed",
    since: ti.queuedAt,
    sentAgainAt: later(ti.sentAt, limits.redispatchAfter),
    failsAt: later(ti.queuedAt, limits.queuedTimeout),
  };
  const workers = processes.workers.filter((worker) => worker.queues.includes(ti.queue));
  if (workers.length === 0) return [{ kind: "no_live_worker_for_queue", queue: ti.queue }, unclaimed];
  const slots = workers.reduce((sum, worker) => sum + worker.concurrency, 0);
  const running = workers.reduce((sum, worker) => sum + worker.running, 0);
  return running < slots ? [unclaimed] : [{ kind: "workers_busy", queue: ti.queue, slots, running }, unclaimed];
}

const holder = ({ limits }: Situation, { worker, heartbeatAge }: TaskSituation) => ({
  worker,
  heartbeatAge,
  isLate: heartbeatAge !== null && heartbeatAge > limits.heartbeatTimeout,
});

/** What the deciders would say of it again: for those that they ended themselves. */
function whyFinished(s: Situation, ti: TaskSituation, node: TaskNode | undefined): readonly Condition[] {
  if (node === undefined || ti.reason !== null || !DECIDED.includes(ti.state)) return [];
  const { kind, causes } = judgeTask(s.graph, node, { ...ti, state: "none" }, viewIn(s), s.past);
  return kind === ti.state ? causes.map((cause) => withTime(cause, ti)) : [];
}

const DECIDED: readonly TaskState[] = ["skipped", "upstream_failed", "removed"];
