// The statements that read and write dags and runs, as packages/shared/src/db/statements has them in SQL.
import type { PlannedRun } from "@millrace/shared/model";
import type { DagRow, DagVersion, RunRow, RunVersion } from "./rows.ts";
import { instant, waiting } from "./statement.ts";
import { follow, lockAll, lockFree, lockMatching } from "./steps.ts";
import type { NewRun } from "./store.ts";
import type { Transaction } from "./transaction.ts";

const countRuns = (tx: Transaction, dag: DagRow, isCounted: (state: RunVersion["state"]) => boolean): number => {
  let count = 0;
  for (const run of dag.activeRuns) if (run.runType !== "backfill" && isCounted(tx.read(run).state)) count++;
  return count;
};
const isActive = (state: RunVersion["state"]): boolean => state === "queued" || state === "running";

export interface DueDag {
  readonly dag: DagRow;
  readonly pointer: PlannedRun;
  /** Runs that may be created now. */
  readonly room: number;
}

export const lockDueDags = instant("lock-due-dags", [], (tx) => {
  const due: DueDag[] = [];
  for (const dag of tx.store.dags) {
    const { isPaused, pointer } = tx.read(dag);
    if (isPaused || pointer === undefined || pointer.runAfter > tx.now) continue;
    const room = dag.maxActiveRuns - countRuns(tx, dag, isActive);
    if (room > 0) due.push({ dag, pointer, room });
  }
  if (due.length > 1) due.sort((a, b) => a.pointer.runAfter - b.pointer.runAfter);
  return due.filter(({ dag, pointer }) => tx.tryLock(dag) && tx.read(dag).pointer === pointer);
});

export const insertRuns = instant("insert-runs", [], (tx, dag: DagRow, runs: readonly NewRun[]) => {
  const fresh = runs.filter((run) => !dag.runIds.has(run.runId));
  for (const run of fresh) tx.createRun(tx.store.newRun(dag, run));
  return fresh.length;
});

export const setPointers = waiting("dag-set-pointers", [], (tx, dag: DagRow, pointer: PlannedRun | undefined) =>
  follow(lockAll(tx, [dag]), () => tx.writeDag(dag, { pointer })),
);

export const lockDagsToStart = instant("lock-dags-to-start", [], (tx) => {
  const hasWork = (dag: DagRow) => {
    if (tx.read(dag).isPaused || dag.activeRuns.size === 0) return false;
    let isWaiting = false;
    for (const run of dag.activeRuns) isWaiting ||= tx.read(run).state === "queued" && run.runAfter <= tx.now;
    return isWaiting && countRuns(tx, dag, (state) => state === "running") < dag.maxActiveRuns;
  };
  return lockFree(tx, tx.store.dags.filter(hasWork));
});

export interface RunToStart {
  readonly run: RunRow;
  readonly room: number;
}

export const runsToStart = waiting("runs-to-start", [], function* (tx, dags: readonly DagRow[], perDag: number) {
  const found: RunToStart[] = [];
  for (const dag of dags) {
    const room = dag.maxActiveRuns - countRuns(tx, dag, (state) => state === "running");
    if (room <= 0) continue;
    const queued = [...dag.activeRuns].filter((run) => tx.read(run).state === "queued" && run.runAfter <= tx.now);
    queued.sort((a, b) => a.runAfter - b.runAfter || a.id - b.id);
    const locked = yield* lockMatching<RunVersion, RunRow>(tx, queued.slice(0, perDag), (v) => v.state === "queued");
    for (const run of locked) found.push({ run, room });
  }
  return found.sort((a, b) => a.run.id - b.run.id);
});

export const startRuns = waiting("start-runs", ["run queued>running"], (tx, runs: readonly RunRow[]) =>
  follow(
    lockMatching<RunVersion, RunRow>(tx, runs, (v) => v.state === "queued"),
    (queued) => {
      const started = { state: "running", startDate: tx.now, endDate: undefined, lastDecision: tx.now } as const;
      for (const run of queued) tx.writeRun(run, started);
    },
  ),
);

export interface RunEnd {
  readonly run: RunRow;
  readonly state: "success" | "failed";
  readonly reason: string;
}

export const finishRuns = waiting(
  "finish-runs",
  ["run running>success", "run running>failed", "run queued>success"],
  function* (tx, ends: readonly RunEnd[]) {
    const finished: RunEnd[] = [];
    for (const end of ends) {
      const matches = (v: RunVersion) => v.state === "running" || (v.state === "queued" && end.state === "success");
      const [run] = yield* lockMatching<RunVersion, RunRow>(tx, [end.run], matches);
      if (run === undefined) continue;
      const startDate = tx.read(run).startDate ?? tx.now;
      tx.writeRun(run, { state: end.state, reason: end.reason, startDate, endDate: tx.now });
      finished.push(end);
    }
    return finished;
  },
);

/** Waits for runs that another scheduler looks at: skipping them would lose the wake that named them. */
export const lockRuns = waiting("lock-runs", [], (tx, runs: readonly RunRow[]) => {
  const sorted = runs.length > 1 ? [...runs].sort((a, b) => a.id - b.id) : runs;
  return lockMatching<RunVersion, RunRow>(tx, sorted, isRunning);
});

const isRunning = ({ state }: RunVersion): boolean => state === "running";

export const lockRunsToSweep = instant("lock-runs-to-sweep", [], (tx, olderThanSeconds: number, limit: number) => {
  const before = tx.now - olderThanSeconds * 1000;
  const isDue = ({ state, lastDecision }: RunVersion) => state === "running" && (lastDecision ?? -Infinity) < before;
  const due: RunRow[] = [];
  for (const dag of tx.store.dags) for (const run of dag.activeRuns) if (isDue(tx.read(run))) due.push(run);
  due.sort((a, b) => (tx.read(a).lastDecision ?? 0) - (tx.read(b).lastDecision ?? 0));
  const locked = lockFree(tx, due.slice(0, limit)).filter((run) => isDue(tx.read(run)));
  for (const run of locked) tx.writeRun(run, { lastDecision: tx.now });
  return locked;
});

export const lockTimedOutRuns = instant("lock-timed-out-runs", [], (tx) => {
  const late: RunRow[] = [];
  for (const dag of tx.store.dags) {
    const { dagrunTimeout } = dag.graph.spec;
    if (dagrunTimeout === undefined) continue;
    for (const run of dag.activeRuns) {
      const { state, startDate } = tx.read(run);
      if (state === "running" && (startDate ?? tx.now) + dagrunTimeout * 1000 < tx.now) late.push(run);
    }
  }
  return lockFree(
    tx,
    late.sort((a, b) => a.id - b.id),
  ).filter((run) => tx.read(run).state === "running");
});

/** A run that is over its time fails, whatever its tasks do. */
export const failTimedOut = instant("mark-runs", ["run running>failed"], (tx, runs: readonly RunRow[]) => {
  for (const run of runs) tx.writeRun(run, { state: "failed", reason: "timed_out", endDate: tx.now });
});

/** The active run after each: it may have waited for this one. */
export const nextRuns = instant("next-runs", [], (tx, runs: readonly RunRow[]) => {
  return runs.flatMap((run) => {
    const dates = run.dag.runsByDate;
    const later: RunRow[] = [];
    for (let i = dates.lastIndexOf(run) + 1; i > 0 && i < dates.length && later.length < 2; i++) {
      const next = dates[i];
      if (next !== undefined && next.logicalDate !== run.logicalDate) later.push(next);
    }
    return later.filter((next) => isActive(tx.read(next).state));
  });
});

export const pauseFailingDags = waiting("pause-failing-dags", [], function* (tx, dags: readonly DagRow[]) {
  const paused: DagRow[] = [];
  for (const dag of dags) {
    const runs = dag.graph.spec.maxConsecutiveFailedDagRuns ?? 0;
    if (runs === 0) continue;
    const isFailing = () => {
      const newest = dag.runsByDate.slice(-runs);
      return newest.length === runs && newest.every((run) => tx.read(run).state === "failed");
    };
    const [locked] = yield* lockMatching<DagVersion, DagRow>(tx, [dag], (v) => !v.isPaused && isFailing());
    if (locked === undefined) continue;
    tx.writeDag(dag, { isPaused: true });
    paused.push(dag);
  }
  return paused;
});
