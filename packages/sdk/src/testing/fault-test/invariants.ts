// What must hold at every moment of a fault test, whoever crashed: checked with every write and every commit, from the
// rows alone. It knows nothing of how the actors decide.
import { isFinished } from "@millrace/shared/model";
import type { RunRow, TaskRow, TaskVersion } from "../engine/rows.ts";
import type { Store, Watch } from "../engine/store.ts";

export class Violation extends Error {
  override readonly name: string = "Violation";
}

export class Invariants implements Watch {
  readonly #store: Store;
  readonly #parallelism: number;
  readonly #claimed = new Set<number>();
  readonly #started = new Set<number>();
  trace: string[] | undefined;

  constructor(store: Store, parallelism: number) {
    this.#store = store;
    this.#parallelism = parallelism;
  }

  taskWritten(row: TaskRow, before: TaskVersion, after: TaskVersion, owner: string): void {
    if (before.state === after.state) return;
    this.trace?.push(
      `${this.#store.agenda.now} ${owner}: ${row.taskId}@${row.run.id} #${before.id}/${before.epoch} ${before.state} > ${after.state}`,
    );
    const fail = (what: string) => {
      throw new Violation(`${what}: ${row.taskId} of run ${row.run.id}, ${before.state} to ${after.state} by ${owner}`);
    };
    if (row.committed.epoch !== before.epoch && before.epoch !== after.epoch - 1) fail("a lost update");
    if (after.state === "queued") {
      const stateOf = (up: TaskRow) => (up.lockedBy === row.lockedBy && up.written ? up.written : up.committed).state;
      const open = row.run.tasks.some((up) => row.node.upstream.includes(up.taskId) && !isFinished(stateOf(up)));
      if (open) fail("queued before its upstreams ended");
    }
    if (after.state === "scheduled" && after.tryNumber > after.maxTries + 1) fail("a try more than the task has");
    const isWorkers = owner.startsWith("worker ");
    const isHeld = before.state === "running" || before.state === "restarting" || before.state === "shutdown";
    if (isWorkers && isHeld && before.worker !== Number(owner.slice(7))) fail("a stale write");
  }

  committed(_owner: string, runs: readonly RunRow[], tasks: readonly TaskRow[]): void {
    for (const { committed } of tasks) {
      if (committed.state !== "running" || committed.token === undefined) continue;
      this.#claimed.add(committed.token);
    }
    if (tasks.some((row) => row.committed.state === "queued")) this.#checkLimits();
    for (const { dag } of runs) {
      let running = 0;
      for (const run of dag.activeRuns) if (run.committed.state === "running") running++;
      if (running > dag.maxActiveRuns) throw new Violation(`${running} runs of at most ${dag.maxActiveRuns}`);
    }
  }

  /** A worker is about to run an attempt. */
  started(attempt: number, token: number): void {
    this.trace?.push(`${this.#store.agenda.now} handler of #${attempt} starts`);
    if (!this.#claimed.has(token)) throw new Violation(`attempt ${attempt} starts without a claim`);
    if (this.#started.has(attempt)) throw new Violation(`attempt ${attempt} starts twice`);
    this.#started.add(attempt);
  }

  #checkLimits(): void {
    const { occupying, pools, dags } = this.#store;
    const used = new Map<string, number>();
    for (const { node } of occupying) used.set(node.spec.pool, (used.get(node.spec.pool) ?? 0) + node.spec.poolSlots);
    for (const [pool, slots] of used) {
      if (slots > (pools.get(pool) ?? 0))
        throw new Violation(`${slots} slots of ${pool} are taken, of ${pools.get(pool)}`);
    }
    if (occupying.size > this.#parallelism)
      throw new Violation(`${occupying.size} tasks of at most ${this.#parallelism}`);
    for (const dag of dags) {
      if (occupying.size > dag.maxActiveTasks)
        throw new Violation(`${occupying.size} tasks of at most ${dag.maxActiveTasks} of the DAG`);
    }
  }

  /** After healing, and time enough. */
  ended(expectedRuns: number): void {
    const { runs } = this.#store;
    // What depends on its past and on a failure there waits for somebody, and may keep the room of later runs.
    const isFailure = ({ committed: { state } }: TaskRow) => state === "failed" || state === "upstream_failed";
    const isHeldByPast = this.#store.dags.some(
      (dag) => dag.graph.pastTasks.length > 0 && dag.runsByDate.some((run) => run.tasks.some(isFailure)),
    );
    if (runs.length !== expectedRuns && !isHeldByPast) {
      throw new Violation(`${runs.length} runs instead of ${expectedRuns}`);
    }
    if (new Set(runs.map((run) => run.runId)).size !== runs.length) throw new Violation("an interval has two runs");
    for (const run of runs) {
      const { state, reason } = run.committed;
      if (state === "queued" && isHeldByPast) continue;
      const open = run.tasks.filter((task) => !isFinished(task.committed.state));
      const states = open.map((task) => `${task.taskId} is ${task.committed.state}`).join(", ");
      if (state === "queued" || state === "running")
        throw new Violation(`run ${run.id} is ${state} for ever: ${states}`);
      const isDeadlock = reason === "all_tasks_deadlocked" && open.every((task) => task.committed.state === "none");
      if (open.length > 0 && !isDeadlock) throw new Violation(`run ${run.id} is ${state}, and ${states}`);
    }
  }
}
