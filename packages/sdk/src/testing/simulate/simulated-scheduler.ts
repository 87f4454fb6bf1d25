// The scheduler of a simulation: its own passes, made whenever something happened, and what it does by the clock.
import { isFinished } from "@millrace/shared/model";
import { timeOutRuns } from "../engine/recovery.ts";
import type { RunRow, TaskRow } from "../engine/rows.ts";
import { createDueRuns, schedulingPass, type PassOutcome } from "../engine/scheduling-pass.ts";
import { statements as s } from "../engine/statements.ts";
import type { AttemptKey } from "../engine/task-statements.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

/** Whom it gives work. */
interface Workers {
  send(keys: readonly AttemptKey[]): void;
  beginWait(row: TaskRow): void;
  confirm(ids: readonly number[]): void;
}

export class SimulatedScheduler {
  readonly #world: SimulatedWorld;
  readonly #workers: Workers;
  /** What the next pass is to look at. */
  #named = new Map<RunRow, Set<string> | null>();
  #startRuns = true;
  #passAt: number | undefined;
  #pointerAt: number | undefined;
  /** When the DAG was paused because its newest runs had failed. */
  pausedAt: number | undefined;

  constructor(world: SimulatedWorld, workers: Workers) {
    this.#world = world;
    this.#workers = workers;
  }

  /** A run was made by hand. */
  runCreated(): void {
    this.#startRuns = true;
    this.requestPass();
  }

  /** Something happened to this task instance. */
  wake(row: TaskRow): void {
    const tasks = this.#named.get(row.run);
    if (tasks === undefined) this.#named.set(row.run, new Set([row.taskId]));
    else tasks?.add(row.taskId);
    this.requestPass();
  }

  /** A pass now, or when the scheduler is back. */
  requestPass(at = this.#world.agenda.now): void {
    const moment = this.whenDecided(at);
    if (this.#passAt !== undefined && this.#passAt <= moment) return;
    this.#passAt = moment;
    this.#world.agenda.at(moment, () => {
      if (this.#passAt === moment) this.#pass();
    });
  }

  whenDecided(at: number): number {
    let moment = at;
    for (const { from, until } of this.#world.options.faults.outages)
      if (from <= moment && moment < until) moment = until;
    return moment;
  }

  #pass(): void {
    for (let again = true; again;) {
      this.#passAt = undefined;
      const created = this.#createDueRuns();
      const request = { named: this.#named, startRuns: this.#startRuns || created > 0, isSweep: false };
      this.#named = new Map();
      this.#startRuns = false;
      const outcome = this.#world.transaction("scheduler", (tx) => schedulingPass(tx, this.#world.deps, request));
      this.#follow(outcome);
      this.#lookAgainAtIdle(outcome.started > 0 ? this.#world.dag.activeRuns : request.named.keys());
      this.#startRuns &&= this.#isRunDue() || this.#hasQueuedRun();
      again = this.#startRuns || this.#named.size > 0;
    }
    this.#waitForSchedule();
  }

  #hasQueuedRun(): boolean {
    for (const run of this.#world.dag.activeRuns) if (run.committed.state === "queued") return true;
    return false;
  }

  #isRunDue(): boolean {
    const { now } = this.#world.agenda;
    const { pointer, isPaused } = this.#world.dag.committed;
    return !isPaused && pointer !== undefined && pointer.runAfter <= now && now < this.#world.options.until;
  }

  #createDueRuns(): number {
    if (!this.#isRunDue()) return 0;
    return this.#world.transaction("scheduler", (tx) => createDueRuns(tx, this.#world.deps));
  }

  #follow(outcome: PassOutcome): void {
    this.#workers.confirm(outcome.stopped);
    if (outcome.queued.length > 0) this.#workers.send(outcome.queued);
    for (const run of outcome.next) this.#named.set(run, null);
    for (const row of outcome.deferred) this.#workers.beginWait(row);
    if (outcome.next.length > 0 || outcome.finished.length > 0 || outcome.started > 0) this.#startRuns = true;
    if (outcome.started > 0) this.#watchTimeout();
    if (!outcome.finished.some((end) => end.state === "failed")) return;
    const paused = this.#world.transaction("scheduler", (tx) => s.pauseFailingDags(tx, [this.#world.dag]));
    if (paused.length > 0) this.pausedAt = this.#world.agenda.now;
  }

  #waitForSchedule(): void {
    const { pointer, isPaused } = this.#world.dag.committed;
    const { now } = this.#world.agenda;
    // What is due already waits for room, and the end of a run makes the next pass.
    if (isPaused || pointer === undefined || pointer.runAfter <= now || pointer.runAfter >= this.#world.options.until)
      return;
    if (this.#pointerAt === pointer.runAfter) return;
    this.#pointerAt = pointer.runAfter;
    this.#world.agenda.at(pointer.runAfter, () => this.requestPass());
  }

  /** A run in which nothing is under way is examined whole by the next sweep: nothing may be left that can go on. */
  #lookAgainAtIdle(runs: Iterable<RunRow>): void {
    for (const run of runs) {
      if (run.committed.state !== "running") continue;
      const isIdle = run.tasks.every(({ committed: { state } }) => state === "none" || isFinished(state));
      if (!isIdle || (run.committed.lastDecision ?? 0) >= this.#world.agenda.now) continue;
      this.#world.agenda.after(this.#world.deps.settings.sweepInterval * 1000, () => {
        this.#world.transaction("scheduler", function* (tx) {
          for (const still of yield* s.lockRuns(tx, [run])) tx.writeRun(still, { lastDecision: tx.now });
        });
        this.#named.set(run, null);
        this.requestPass();
      });
    }
  }

  #watchTimeout(): void {
    const { dagrunTimeout } = this.#world.spec;
    if (dagrunTimeout === undefined) return;
    // Over it, not at it.
    this.#world.agenda.at(this.whenDecided(this.#world.agenda.now + dagrunTimeout * 1000 + 1), () => {
      const { runs, stopped } = this.#world.transaction("scheduler", (tx) => timeOutRuns(tx, this.#world.deps));
      if (runs.length === 0) return;
      this.#workers.confirm(stopped);
      this.#startRuns = true;
      this.requestPass();
    });
  }
}
