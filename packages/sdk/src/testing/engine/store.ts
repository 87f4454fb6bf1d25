// The in-memory database of a simulation: rows, the indexes by which the statements find them, and the locks that others
// wait for. Indexes hold committed versions only; a statement adds what its own transaction wrote.
import {
  isWithinDates,
  OCCUPYING_TASK_STATES,
  type DagGraph,
  type PlannedRun,
  type PoolLimits,
  type RunType,
  type TaskState,
} from "@millrace/shared/model";
import type { Agenda } from "./agenda.ts";
import {
  NEW_RUN,
  newTaskVersion,
  type DagRow,
  type Lockable,
  type RunRow,
  type RunVersion,
  type TaskRow,
  type TaskVersion,
} from "./rows.ts";
import { Transaction } from "./transaction.ts";

export interface NewRun {
  readonly runId: string;
  readonly runType: RunType;
  readonly plan: Omit<PlannedRun, "logicalDate" | "interval"> & {
    readonly logicalDate: number | null;
    readonly interval: PlannedRun["interval"] | null;
  };
}

/** Told of everything that is written: checkers and recorders. */
export interface Watch {
  taskWritten(row: TaskRow, before: TaskVersion, after: TaskVersion, owner: string): void;
  committed(owner: string, runs: readonly RunRow[], tasks: readonly TaskRow[]): void;
}

const OCCUPYING: ReadonlySet<TaskState> = new Set(OCCUPYING_TASK_STATES);
const DELAYED: ReadonlySet<TaskState> = new Set(["up_for_retry", "up_for_reschedule"]);

export class Store {
  readonly agenda: Agenda;
  /** Slots by the name of the pool; -1: no limit. */
  readonly pools: ReadonlyMap<string, number>;
  readonly poolLimits: readonly PoolLimits[];
  readonly dags: DagRow[] = [];
  readonly runs: RunRow[] = [];
  readonly attempts = new Attempts();
  readonly scheduled = new Set<TaskRow>();
  readonly occupying = new Set<TaskRow>();
  /** Waiting for their retry or their next poke. */
  readonly delayed = new Set<TaskRow>();
  /** The lock of the critical section. */
  readonly criticalSection: Lockable = { lockedBy: undefined };
  watch: Watch | undefined;
  /** Whether several actors take turns; false: one does everything, and nothing comes in between. */
  isShared = false;
  /** Told of locks that were given back. */
  onReleased: ((locks: readonly Lockable[]) => void) | undefined;
  #attempts = 0;
  #runs = 0;

  constructor(agenda: Agenda, pools: ReadonlyMap<string, number>) {
    this.agenda = agenda;
    this.pools = pools;
    this.poolLimits = Array.from(pools, ([pool, slots]) => ({ pool, slots }));
  }

  begin(owner: string): Transaction {
    return new Transaction(this, owner);
  }

  newId(): number {
    return ++this.#attempts;
  }

  addDag(
    graph: DagGraph,
    pointer: PlannedRun | undefined,
    limits: Pick<DagRow, "maxActiveRuns" | "maxActiveTasks">,
  ): DagRow {
    const dag: DagRow = {
      dagId: graph.spec.dagId,
      graph,
      ...limits,
      activeRuns: new Set(),
      runsByDate: [],
      runIds: new Map(),
      lockedBy: undefined,
      written: undefined,
      committed: { isPaused: false, pointer },
    };
    this.dags.push(dag);
    return dag;
  }

  /** A run that is not in the store yet: see Transaction.createRun. */
  newRun(dag: DagRow, { runId, runType, plan }: NewRun): RunRow {
    const tasks: TaskRow[] = [];
    const run: RunRow = {
      id: ++this.#runs,
      dag,
      runId,
      runType,
      ...plan,
      createdAt: this.agenda.now,
      tasks,
      lockedBy: undefined,
      written: undefined,
      committed: NEW_RUN,
    };
    for (const node of dag.graph.tasks.values()) {
      if (!isWithinDates(node.spec, run)) continue;
      const id = this.newId();
      tasks.push({
        rowId: id,
        run,
        node,
        taskId: node.spec.taskId,
        mapIndex: -1,
        lockedBy: undefined,
        written: undefined,
        committed: newTaskVersion(id, node.spec.retries),
      });
    }
    return run;
  }

  addRun(run: RunRow): void {
    this.runs.push(run);
    run.dag.runIds.set(run.runId, run);
    run.dag.activeRuns.add(run);
    for (const task of run.tasks) this.attempts.set(task.committed.id, task);
    if (run.logicalDate === null) return;
    const sorted = run.dag.runsByDate;
    let place = sorted.length;
    while (place > 0 && (sorted[place - 1]?.logicalDate ?? 0) > run.logicalDate) place--;
    sorted.splice(place, 0, run);
  }

  runChanged(run: RunRow, before: RunVersion): void {
    const isActive = ({ state }: RunVersion) => state === "queued" || state === "running";
    if (isActive(before) === isActive(run.committed)) return;
    if (isActive(run.committed)) run.dag.activeRuns.add(run);
    else run.dag.activeRuns.delete(run);
  }

  taskChanged(task: TaskRow, before: TaskVersion): void {
    const { state, id } = task.committed;
    if (id !== before.id) {
      this.attempts.delete(before.id);
      this.attempts.set(id, task);
    }
    if (state === before.state) return;
    move(this.scheduled, task, before.state === "scheduled", state === "scheduled");
    move(this.occupying, task, OCCUPYING.has(before.state), OCCUPYING.has(state));
    move(this.delayed, task, DELAYED.has(before.state), DELAYED.has(state));
  }
}

/** Task instances by the attempt that they are at: attempts are numbered from 1. */
class Attempts {
  readonly #rows: (TaskRow | undefined)[] = [undefined];

  get(id: number): TaskRow | undefined {
    return this.#rows[id];
  }

  set(id: number, row: TaskRow): void {
    // Without holes, which would make another kind of array of it.
    while (this.#rows.length < id) this.#rows.push(undefined);
    this.#rows[id] = row;
  }

  delete(id: number): void {
    this.#rows[id] = undefined;
  }
}

function move(index: Set<TaskRow>, task: TaskRow, was: boolean, is: boolean): void {
  if (was === is) return;
  if (is) index.add(task);
  else index.delete(task);
}
