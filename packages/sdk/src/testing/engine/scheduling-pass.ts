// One pass of a scheduler, as packages/scheduler/src/scheduler.ts makes it: due runs in a transaction of their own; then,
// in one, queued runs start, the runs that wakes name are examined, and what the limits allow is queued.
import { admit, canStart, dueRuns, scheduledRunId, type PlannedRun, type Refusal } from "@millrace/shared/model";
import { applyFailFast, openCase, writeExamined, type Case, type Examined, type Target } from "./examine.ts";
import type { RunRow, TaskRow } from "./rows.ts";
import type { EngineSettings } from "./settings.ts";
import { snapshotOf } from "./snapshot.ts";
import type { Statements } from "./statements.ts";
import { TRAVEL, type Steps } from "./steps.ts";
import type { AttemptKey } from "./task-statements.ts";
import type { Transaction } from "./transaction.ts";

const RUNS_PER_DAG = 50;
const RUNS_LOOKED_AT_PER_DAG = 50;

/** What an actor of the scheduler works with. */
export interface SchedulerDeps {
  readonly s: Statements;
  readonly settings: EngineSettings;
  /** Told which scheduled task instances a limit keeps back. */
  readonly onRefused?: (row: TaskRow, refusal: Refusal) => void;
  /** Told which queued runs stay so because none of their tasks can move. */
  readonly onBlocked?: (run: RunRow) => void;
  /** What a schedule that is code asks for, in the order of time. */
  readonly planned?: () => readonly PlannedRun[];
}

/** @throws whatever a schedule throws: there is nobody to read an import error */
export function* createDueRuns(tx: Transaction, { s, planned }: SchedulerDeps): Steps<number> {
  let created = 0;
  for (const { dag, pointer, room } of yield* s.lockDueDags(tx)) {
    const due = dueRuns(dag.graph.spec, pointer, tx.now, Math.min(room, RUNS_PER_DAG), planned?.());
    if (due.failure !== undefined) throw due.failure instanceof Error ? due.failure : new Error(String(due.failure));
    const runs = due.runs.map((plan) => ({
      runId: scheduledRunId(plan.runAfter),
      runType: "scheduled" as const,
      plan,
    }));
    created += yield* s.insertRuns(tx, dag, runs);
    yield* s.setPointers(tx, dag, due.next);
  }
  return created;
}

export interface Started extends Examined {
  started: number;
}

/** The oldest first, while the dag has room; a run of which no task can move takes none. */
export function* startQueuedRuns(tx: Transaction, deps: SchedulerDeps, into: Started): Steps<void> {
  const { s } = deps;
  const dags = yield* s.lockDagsToStart(tx);
  if (dags.length === 0) return;
  const runs = yield* s.runsToStart(tx, dags, RUNS_LOOKED_AT_PER_DAG);
  if (runs.length === 0) return;
  if (tx.store.isShared) yield TRAVEL;
  const room = new Map(runs.map(({ run, room }) => [run.dag, room]));
  const empty: RunRow[] = [];
  const admitted: Case[] = [];
  for (const { run } of [...runs].sort((a, b) => a.run.runAfter - b.run.runAfter || a.run.id - b.run.id)) {
    if (run.tasks.length === 0 && run.dag.graph.tasks.size === 0) {
      empty.push(run);
      continue;
    }
    const left = room.get(run.dag) ?? 0;
    if (left <= 0) continue;
    const c = openCase(tx, { run, changed: null });
    const known = c.changes.length > 0 ? [] : [...c.known.values()].flat();
    if (!canStart(c.changes.length, known)) {
      deps.onBlocked?.(run);
      continue;
    }
    room.set(run.dag, left - 1);
    admitted.push(c);
  }
  if (admitted.length > 0) {
    yield* s.startRuns(
      tx,
      admitted.map((c) => c.target.run).sort((a, b) => a.id - b.id),
    );
    into.stopped.push(...(yield* applyFailFast(tx, s, admitted)));
    yield* writeExamined(tx, s, admitted, into);
    into.started += admitted.length;
  }
  if (empty.length > 0) {
    const ends = empty.map((run) => ({ run, state: "success" as const, reason: "success" }));
    into.finished.push(...(yield* s.finishRuns(tx, ends)));
  }
}

/** scheduled → queued within every limit, under the one lock, from what is read after it is held. */
export function* queueScheduledTasks(tx: Transaction, deps: SchedulerDeps): Steps<readonly AttemptKey[]> {
  const { s, settings } = deps;
  yield* s.lockCriticalSection(tx);
  if (tx.store.isShared) yield TRAVEL;
  const candidates: ReturnType<typeof candidateOf>[] = [];
  const consider = (row: TaskRow) => {
    if (tx.read(row).state === "scheduled" && !tx.read(row.run.dag).isPaused) candidates.push(candidateOf(tx, row));
  };
  for (const row of tx.store.scheduled) consider(row);
  for (const row of tx.writtenTasks) if (row.committed.state !== "scheduled") consider(row);
  if (candidates.length === 0) return [];
  const { admitted, refused } = admit({
    parallelism: settings.parallelism,
    pools: tx.store.poolLimits,
    occupancy: Array.from(tx.store.occupying, occupancyOf),
    candidates,
    limitsOf,
  });
  if (deps.onRefused !== undefined)
    for (const { candidate, refusal } of refused) deps.onRefused(candidate.row, refusal);
  const batch = admitted.slice(0, settings.maxTasksPerPass);
  return yield* s.queueTasks(
    tx,
    batch.map(({ row, epoch }) => ({ id: tx.read(row).id, epoch })),
  );
}

// Object literals with every field in its place, here and in what is made for each task: spreads cost ten times as much.
const limitsOf = ({ row }: { readonly row: TaskRow }) => ({
  maxActiveTasks: row.run.dag.maxActiveTasks,
  maxActiveTisPerDag: row.node.spec.maxActiveTisPerDag,
  maxActiveTisPerDagrun: row.node.spec.maxActiveTisPerDagrun,
});

const occupancyOf = (row: TaskRow) => ({
  pool: row.node.spec.pool,
  dagId: row.run.dag.dagId,
  taskId: row.taskId,
  dagRunId: row.run.id,
  count: 1,
  slots: row.node.spec.poolSlots,
});

function candidateOf(tx: Transaction, row: TaskRow) {
  const { spec, priorityWeight } = row.node;
  return {
    row,
    // Compared as text when all else is equal.
    id: String(1e9 + row.rowId),
    pool: spec.pool,
    dagId: row.run.dag.dagId,
    taskId: row.taskId,
    dagRunId: row.run.id,
    epoch: tx.read(row).epoch,
    mapIndex: row.mapIndex,
    poolSlots: spec.poolSlots,
    queue: spec.queue,
    priorityWeight,
    logicalDate: row.run.logicalDate,
    runAfter: row.run.runAfter,
  };
}

export interface PassRequest {
  /** By run: the tasks that changed, or null for the whole of it. */
  readonly named: ReadonlyMap<RunRow, ReadonlySet<string> | null>;
  readonly startRuns: boolean;
  readonly isSweep: boolean;
}

export interface PassOutcome extends Started {
  queued: readonly AttemptKey[];
}

/** The transaction of a pass. What it gives is to be sent, signalled and woken once it is committed. */
export function* schedulingPass(tx: Transaction, deps: SchedulerDeps, request: PassRequest): Steps<PassOutcome> {
  const { s, settings } = deps;
  const outcome: PassOutcome = {
    scheduled: 0,
    finished: [],
    stopped: [],
    next: [],
    deferred: [],
    started: 0,
    queued: [],
  };
  if (request.startRuns) yield* startQueuedRuns(tx, deps, outcome);
  let targets: Target[] = [];
  if (request.named.size > 0) {
    for (const run of yield* s.lockRuns(tx, [...request.named.keys()])) {
      const changed = request.named.get(run);
      targets.push({ run, changed: changed === null || changed === undefined ? null : [...changed] });
    }
  }
  if (request.isSweep) {
    const swept = yield* s.lockRunsToSweep(tx, settings.sweepInterval, settings.maxRunsPerPass);
    targets = targets.filter(({ run }) => !swept.includes(run));
    for (const run of swept) targets.push({ run, changed: null });
  }
  if (targets.length > 0) {
    if (tx.store.isShared) yield TRAVEL;
    const cases = targets.map((target) => openCase(tx, target));
    outcome.stopped.push(...(yield* applyFailFast(tx, s, cases)));
    yield* writeExamined(tx, s, cases, outcome);
  }
  // The lock of the critical section is everybody's: whoever has nothing to queue does not ask for it.
  if (outcome.scheduled > 0 || tx.store.scheduled.size > 0) outcome.queued = yield* queueScheduledTasks(tx, deps);
  return outcome;
}

/** Runs in which a delay is over, with the tasks that it was of. */
export function* addDueTasks(tx: Transaction, named: Map<RunRow, Set<string> | null>): Steps<void> {
  if (tx.store.isShared) yield TRAVEL;
  for (const row of tx.store.delayed) {
    if (!snapshotOf(tx, row).isDue) continue;
    const tasks = named.get(row.run);
    if (tasks === undefined) named.set(row.run, new Set([row.taskId]));
    else tasks?.add(row.taskId);
  }
}
