// Looks at runs where something happened and writes what follows, as packages/scheduler/src/runs does: only what a change
// concerns is read, the deciders decide, and what was read is written under its epoch. The caller has locked the runs.
import {
  decideChanges,
  failFast,
  isFinished,
  judgeLeaves,
  judgeRun,
  pastTasksOf,
  type Change,
  type DagGraph,
  type FailFast,
  type PastView,
  type TaskState,
} from "@millrace/shared/model";
import type { RunRow, TaskRow } from "./rows.ts";
import type { RunEnd } from "./run-statements.ts";
import { snapshotOf, type Snapshot } from "./snapshot.ts";
import type { Statements } from "./statements.ts";
import { done, TRAVEL, type Steps } from "./steps.ts";
import type { Transaction } from "./transaction.ts";

export interface Target {
  readonly run: RunRow;
  /** Tasks that changed; null examines the whole run. */
  readonly changed: readonly string[] | null;
}

/** One run under examination. */
export interface Case {
  readonly target: Target;
  readonly graph: DagGraph;
  readonly known: Map<string, readonly Snapshot[]>;
  readonly past: PastView | undefined;
  changes: readonly Change<Snapshot>[];
  /** Its rest was skipped, because its DAG fails fast. */
  isCutShort: boolean;
}

export interface Examined {
  /** Task instances that became scheduled. */
  scheduled: number;
  finished: RunEnd[];
  /** Attempts that workers have to stop. */
  stopped: number[];
  /** Runs that may have waited for what changed here. */
  next: RunRow[];
  /** Task instances that began with their wait. */
  deferred: TaskRow[];
}

const NONE: readonly never[] = [];

/** Reads what is needed and decides, without writing anything. */
export function openCase(tx: Transaction, target: Target): Case {
  const { run } = target;
  const { graph } = run.dag;
  const known = new Map<string, readonly Snapshot[]>();
  const past = pastOf(tx, run);
  const candidates = target.changed === null ? [...graph.tasks.keys()] : nearTo(graph, target.changed);
  for (let wanted: Iterable<string> = candidates; ;) {
    load(tx, run, wanted, known);
    const { changes, missing } = decideChanges(graph, known, candidates, past);
    if (missing.size === 0) return { target, graph, known, past, changes, isCutShort: false };
    wanted = missing;
  }
}

/** What changed, and whom it concerns. */
function nearTo(graph: DagGraph, changed: readonly string[]): string[] {
  const near: string[] = [];
  for (const id of changed) {
    near.push(id);
    for (const watcher of graph.tasks.get(id)?.watchedBy ?? NONE) near.push(watcher);
  }
  return near;
}

/** Each task has one task instance here, or none. */
function load(tx: Transaction, run: RunRow, wanted: Iterable<string>, known: Map<string, readonly Snapshot[]>): void {
  for (const id of wanted) known.set(id, NONE);
  for (const row of run.tasks) if (known.get(row.taskId) === NONE) known.set(row.taskId, [snapshotOf(tx, row)]);
}

/** Ends the rest of a run whose DAG fails fast. Gives the attempts that workers have to stop. */
export const applyFailFast = (tx: Transaction, s: Statements, cases: readonly Case[]): Steps<readonly number[]> =>
  cases.some((c) => c.graph.spec.failFast) ? endTheRest(tx, s, cases) : NO_ATTEMPTS;

const NO_ATTEMPTS = done(NONE);

function* endTheRest(tx: Transaction, s: Statements, cases: readonly Case[]): Steps<number[]> {
  const stopped: number[] = [];
  for (const c of cases) {
    if (!c.graph.spec.failFast || ![...c.known.values()].flat().some((ti) => ti.state === "failed")) continue;
    const all = c.target.run.tasks.map((row) => snapshotOf(tx, row));
    const end = failFast(c.graph, all);
    if (end === undefined) continue;
    const { reason } = end;
    const skipped = yield* s.markAttempts(
      tx,
      end.skip.map(({ id, epoch }) => ({ id, epoch, state: "skipped", reason })),
    );
    const stop = end.stop.map(({ id, state }) => {
      const mark = state === "restarting" ? ("skipped" as const) : ("failed" as const);
      return { id, to: "shutdown" as const, mark, reason };
    });
    stopped.push(...(yield* s.stopAttempts(tx, stop)));
    const ids = new Set(skipped.map((row) => tx.read(row).id));
    const skip = end.skip.filter(({ id }) => ids.has(id));
    c.isCutShort = skip.length > 0;
    decideAnew(c, all, { ...end, skip });
  }
  return stopped;
}

/** The teardowns see the others as they are now: what somebody else changed meanwhile was not skipped. */
function decideAnew(c: Case, all: readonly Snapshot[], { skip, stop }: FailFast<Snapshot>): void {
  const byTask = new Map<string, Snapshot[]>();
  for (const id of c.graph.tasks.keys()) byTask.set(id, []);
  for (const ti of all) {
    const state: TaskState = skip.includes(ti) ? "skipped" : stop.includes(ti) ? "shutdown" : ti.state;
    byTask.get(ti.taskId)?.push({ ...ti, state });
  }
  c.known.clear();
  for (const [id, list] of byTask) c.known.set(id, list);
  c.changes = decideChanges(c.graph, c.known, c.graph.tasks.keys(), c.past).changes;
}

export function* writeExamined(tx: Transaction, s: Statements, cases: readonly Case[], into: Examined): Steps<void> {
  if (cases.length === 0) return;
  const changes = cases.length === 1 && cases[0] !== undefined ? cases[0].changes : cases.flatMap((c) => c.changes);
  if (changes.length > 0) {
    const waits = changes.filter(({ to }) => to === "deferred");
    if (waits.length > 0) {
      const begun = waits.map(({ ti: { id, epoch, state } }) => ({ id, epoch, from: state }));
      into.deferred.push(...(yield* s.startFromTriggers(tx, begun)));
    }
    const others = waits.length === 0 ? changes : changes.filter(({ to }) => to !== "deferred");
    const written = yield* s.applyDecisions(tx, others);
    for (const { to } of written) if (to === "scheduled") into.scheduled++;
  }
  if (tx.store.isShared) yield TRAVEL;
  const ends: RunEnd[] = [];
  const told: RunRow[] = [];
  for (const c of cases) {
    const end = verdictOf(tx, c);
    if (end !== undefined) ends.push(end);
    const hasChanged = c.target.changed !== null || c.changes.length > 0 || c.isCutShort;
    if (c.graph.pastTasks.length > 0 && hasChanged) told.push(c.target.run);
  }
  if (ends.length > 0) into.finished.push(...(yield* s.finishRuns(tx, ends)));
  if (told.length > 0) into.next.push(...(yield* s.nextRuns(tx, told)));
}

function verdictOf(tx: Transaction, c: Case): RunEnd | undefined {
  if (c.changes.some((change) => change.to === "scheduled")) return undefined;
  const { run } = c.target;
  if (run.tasks.every((row) => isFinished(tx.read(row).state))) {
    const leaves = run.tasks.filter((row) => row.node.isLeaf).map((row) => snapshotOf(tx, row));
    return toEnd(run, judgeLeaves(leaves));
  }
  // Whether anything can still go on is asked of a run of which everything was read, and in which nothing moved.
  if (c.target.changed !== null || c.changes.length > 0) return undefined;
  return toEnd(run, judgeRun(c.graph, [...c.known.values()].flat(), c.past));
}

function toEnd(run: RunRow, verdict: ReturnType<typeof judgeRun>): RunEnd | undefined {
  if (verdict.kind === "open") return undefined;
  return { run, state: verdict.kind, reason: verdict.kind === "failed" ? verdict.reason : verdict.kind };
}

/** What the run before shows to tasks that depend on it. */
function pastOf(tx: Transaction, run: RunRow): PastView | undefined {
  const { graph, runsByDate } = run.dag;
  if (graph.pastTasks.length === 0 || run.logicalDate === null) return undefined;
  const withoutManual = graph.spec.catchup === true;
  let previous: RunRow | undefined;
  for (let i = runsByDate.lastIndexOf(run) - 1; i >= 0 && previous === undefined; i--) {
    const candidate = runsByDate[i];
    if (candidate === undefined || (candidate.logicalDate ?? 0) >= run.logicalDate) continue;
    if (!(withoutManual && candidate.runType === "manual")) previous = candidate;
  }
  if (previous === undefined) return undefined;
  const { runId, logicalDate, tasks } = previous;
  const { state } = tx.read(previous);
  const wanted = new Set(
    graph.pastTasks.flatMap((id) => {
      const node = graph.tasks.get(id);
      return node === undefined ? [] : pastTasksOf(node);
    }),
  );
  const states = tasks
    .filter((row) => wanted.has(row.taskId))
    .map((row: TaskRow) => ({ taskId: row.taskId, state: tx.read(row).state }));
  const place = runsByDate.lastIndexOf(run);
  return (taskId) => ({
    runId,
    logicalDate: logicalDate ?? 0,
    isOver: state !== "queued" && state !== "running",
    states,
    hasEarlier:
      states.some((ti) => ti.taskId === taskId) ||
      runsByDate.slice(0, place).some((earlier) => earlier.tasks.some((row) => row.taskId === taskId)),
  });
}
