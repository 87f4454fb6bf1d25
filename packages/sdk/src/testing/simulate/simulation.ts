// One DAG on a virtual clock: the scheduler's own passes over the in-memory store, whenever something happened, and workers
// whose tries end as the rules say. What takes the product milliseconds takes no time here; what it does by the clock
// (schedules, retries, timeouts, leases) happens at its moment.
import type { DagSpec } from "../../spec/index.ts";
import {
  buildDagGraph,
  hasTryLeft,
  inferManualInterval,
  isFinished,
  jitterOf,
  pointerFor,
  retryDelaySeconds,
  timeOf,
} from "@millrace/shared/model";
import { Agenda } from "../engine/agenda.ts";
import { handleLostAttempts, timeOutRuns } from "../engine/recovery.ts";
import type { DagRow, RunRow, TaskRow } from "../engine/rows.ts";
import { createDueRuns, schedulingPass, type PassOutcome, type SchedulerDeps } from "../engine/scheduling-pass.ts";
import {
  DEFAULT_MAX_ACTIVE_RUNS,
  DEFAULT_MAX_ACTIVE_TASKS,
  DEFAULT_POOL_SLOTS,
  DEFAULT_SETTINGS,
} from "../engine/settings.ts";
import { statements as s } from "../engine/statements.ts";
import { runThrough, type Steps } from "../engine/steps.ts";
import { Store } from "../engine/store.ts";
import type { AttemptKey } from "../engine/task-statements.ts";
import type { Transaction } from "../engine/transaction.ts";
import { invalid, type CheckedOptions, type SimulateOptions } from "./options.ts";
import { Outcomes, type DrawnOutcome } from "./outcomes.ts";
import { PlannedRuns, type AskTimetable } from "./planned-runs.ts";
import { Recorder } from "./recorder.ts";

const WORKER = 1;
/** Beyond this something runs away, as a continuous schedule of tasks that take no time does. */
const MAX_RUNS = 250_000;
const STEPS_BETWEEN_REPORTS = 2_000;

/** What goes on when its wait is over. */
interface Waiting {
  readonly outcome: DrawnOutcome;
  /** The end of the wait. */
  readonly until: number;
}

/** A try under way. */
interface Held extends AttemptKey {
  readonly row: TaskRow;
  readonly outcome: DrawnOutcome;
  readonly startedAt: number;
}

export class Simulation {
  readonly store: Store;
  readonly recorder: Recorder;
  readonly dag: DagRow;
  readonly #spec: DagSpec;
  readonly #options: CheckedOptions;
  readonly #agenda: Agenda;
  readonly #deps: SchedulerDeps;
  readonly #outcomes: Outcomes;
  readonly #workerSlots: number;
  readonly #onProgress: SimulateOptions["onProgress"];
  readonly #held = new Map<number, Held>();
  /** By attempt: tries that wait, or go on after their wait. */
  readonly #waits = new Map<number, Waiting>();
  readonly #planned: PlannedRuns | undefined;
  readonly #unclaimed: (AttemptKey & { readonly token: number })[] = [];
  /** What the next pass is to look at. */
  #named = new Map<RunRow, Set<string> | null>();
  #startRuns = true;
  #passAt: number | undefined;
  #pointerAt: number | undefined;
  pausedAt: number | undefined;

  /** @param planRuns for a schedule that is code of the DAG's file */
  constructor(spec: DagSpec, options: SimulateOptions, checked: CheckedOptions, planRuns?: AskTimetable) {
    const { limits = {}, outcomes = {}, seed = 1 } = options;
    this.#spec = spec;
    this.#options = checked;
    this.#agenda = new Agenda(checked.from);
    this.#outcomes = new Outcomes(outcomes, seed);
    this.#workerSlots = limits.workerSlots ?? Infinity;
    this.#onProgress = options.onProgress;
    const pools = new Map(spec.tasks.map((task) => [task.pool, DEFAULT_POOL_SLOTS]));
    for (const [pool, slots] of Object.entries(limits.pools ?? {})) pools.set(pool, slots);
    this.store = new Store(this.#agenda, pools);
    this.recorder = new Recorder(() => this.#agenda.now);
    this.store.watch = this.recorder;
    this.#deps = {
      s,
      settings: { ...DEFAULT_SETTINGS, parallelism: limits.parallelism ?? DEFAULT_SETTINGS.parallelism },
      onRefused: (row, refusal) => this.recorder.refused(row, refusal),
      onBlocked: (run) => this.recorder.blocked(run),
      planned: () => this.#planned?.ahead(this.dag.committed.pointer?.logicalDate) ?? [],
    };
    const isCustom = timeOf(spec.schedule).kind === "custom";
    if (isCustom && planRuns === undefined && checked.triggers.length === 0) {
      throw invalid(spec, ["its schedule is code of its file: give simulate() the DAG itself, or triggers"]);
    }
    if (isCustom && planRuns !== undefined) this.#planned = new PlannedRuns(planRuns, spec, checked.from);
    const pointer = isCustom ? this.#planned?.ahead()[0] : pointerFor(spec, undefined, checked.from);
    if (pointer === undefined && checked.triggers.length === 0) {
      throw invalid(spec, ["time alone asks for no run of it, so nothing would happen: give triggers"]);
    }
    this.dag = this.store.addDag(buildDagGraph(unmapped(spec)), pointer, {
      maxActiveRuns: spec.maxActiveRuns ?? limits.maxActiveRuns ?? DEFAULT_MAX_ACTIVE_RUNS,
      maxActiveTasks: spec.maxActiveTasks ?? limits.maxActiveTasks ?? DEFAULT_MAX_ACTIVE_TASKS,
    });
  }

  run(): void {
    const { triggers, faults } = this.#options;
    triggers.forEach((at, i) => this.#agenda.at(at, () => this.#trigger(at, i)));
    for (const at of faults.losses) this.#agenda.at(at, () => this.#loseWorker());
    this.#requestPass();
    for (let steps = 1; this.#agenda.step(); steps++) {
      if (steps % STEPS_BETWEEN_REPORTS === 0)
        this.#onProgress?.({ now: new Date(this.#agenda.now), runs: this.store.runs.length });
      if (this.store.runs.length <= MAX_RUNS) continue;
      throw invalid(this.#spec, [
        `it has had ${MAX_RUNS} runs by ${new Date(this.#agenda.now).toISOString()}: give a shorter time, or tasks longer durations`,
      ]);
    }
  }

  #transaction<T>(owner: string, steps: (tx: Transaction) => Steps<T>): T {
    const tx = this.store.begin(owner);
    const result = runThrough(steps(tx));
    tx.commit();
    return result;
  }

  // The scheduler.

  /** A pass now, or when the scheduler is back. */
  #requestPass(at = this.#agenda.now): void {
    const moment = this.#whenDecided(at);
    if (this.#passAt !== undefined && this.#passAt <= moment) return;
    this.#passAt = moment;
    this.#agenda.at(moment, () => {
      if (this.#passAt === moment) this.#pass();
    });
  }

  #whenDecided(at: number): number {
    let moment = at;
    for (const { from, until } of this.#options.faults.outages) if (from <= moment && moment < until) moment = until;
    return moment;
  }

  #pass(): void {
    for (let again = true; again;) {
      this.#passAt = undefined;
      const created = this.#createDueRuns();
      const request = { named: this.#named, startRuns: this.#startRuns || created > 0, isSweep: false };
      this.#named = new Map();
      this.#startRuns = false;
      const outcome = this.#transaction("scheduler", (tx) => schedulingPass(tx, this.#deps, request));
      this.#follow(outcome);
      this.#lookAgainAtIdle(outcome.started > 0 ? this.dag.activeRuns : request.named.keys());
      this.#startRuns &&= this.#isRunDue() || this.#hasQueuedRun();
      again = this.#startRuns || this.#named.size > 0;
    }
    this.#waitForSchedule();
  }

  #hasQueuedRun(): boolean {
    for (const run of this.dag.activeRuns) if (run.committed.state === "queued") return true;
    return false;
  }

  #isRunDue(): boolean {
    const { now } = this.#agenda;
    const { pointer, isPaused } = this.dag.committed;
    return !isPaused && pointer !== undefined && pointer.runAfter <= now && now < this.#options.until;
  }

  #createDueRuns(): number {
    if (!this.#isRunDue()) return 0;
    return this.#transaction("scheduler", (tx) => createDueRuns(tx, this.#deps));
  }

  #follow(outcome: PassOutcome): void {
    this.#confirm(outcome.stopped);
    if (outcome.queued.length > 0) this.#send(outcome.queued);
    for (const run of outcome.next) this.#named.set(run, null);
    for (const row of outcome.deferred) this.#beginWait(row);
    if (outcome.next.length > 0 || outcome.finished.length > 0 || outcome.started > 0) this.#startRuns = true;
    if (outcome.started > 0) this.#watchTimeout();
    if (!outcome.finished.some((end) => end.state === "failed")) return;
    const paused = this.#transaction("scheduler", (tx) => s.pauseFailingDags(tx, [this.dag]));
    if (paused.length > 0) this.pausedAt = this.#agenda.now;
  }

  #waitForSchedule(): void {
    const { pointer, isPaused } = this.dag.committed;
    const { now } = this.#agenda;
    // What is due already waits for room, and the end of a run makes the next pass.
    if (isPaused || pointer === undefined || pointer.runAfter <= now || pointer.runAfter >= this.#options.until) return;
    if (this.#pointerAt === pointer.runAfter) return;
    this.#pointerAt = pointer.runAfter;
    this.#agenda.at(pointer.runAfter, () => this.#requestPass());
  }

  /** A run in which nothing is under way is examined whole by the next sweep: nothing may be left that can go on. */
  #lookAgainAtIdle(runs: Iterable<RunRow>): void {
    for (const run of runs) {
      if (run.committed.state !== "running") continue;
      const isIdle = run.tasks.every(({ committed: { state } }) => state === "none" || isFinished(state));
      if (!isIdle || (run.committed.lastDecision ?? 0) >= this.#agenda.now) continue;
      this.#agenda.after(this.#deps.settings.sweepInterval * 1000, () => {
        this.#transaction("scheduler", function* (tx) {
          for (const still of yield* s.lockRuns(tx, [run])) tx.writeRun(still, { lastDecision: tx.now });
        });
        this.#named.set(run, null);
        this.#requestPass();
      });
    }
  }

  #watchTimeout(): void {
    const { dagrunTimeout } = this.#spec;
    if (dagrunTimeout === undefined) return;
    // Over it, not at it.
    this.#agenda.at(this.#whenDecided(this.#agenda.now + dagrunTimeout * 1000 + 1), () => {
      const { runs, stopped } = this.#transaction("scheduler", (tx) => timeOutRuns(tx, this.#deps));
      if (runs.length === 0) return;
      this.#confirm(stopped);
      this.#startRuns = true;
      this.#requestPass();
    });
  }

  #trigger(at: number, index: number): void {
    const runId = `manual__${new Date(at).toISOString()}_${index}`;
    const plan = { logicalDate: at, interval: inferManualInterval(this.#spec.schedule, at), runAfter: at };
    this.#transaction("user", (tx) => s.insertRuns(tx, this.dag, [{ runId, runType: "manual", plan }]));
    this.#startRuns = true;
    this.#requestPass();
  }

  // The workers.

  #send(keys: readonly AttemptKey[]): void {
    const { now } = this.#agenda;
    const delay = this.#options.faults.delays.find(({ from, until }) => from <= now && now < until)?.ms ?? 0;
    if (delay === 0) this.#deliver(keys);
    else this.#agenda.after(delay, () => this.#deliver(keys));
  }

  #deliver(keys: readonly AttemptKey[]): void {
    for (const { id, epoch } of keys) this.#unclaimed.push({ id, epoch, token: id });
    this.#claim();
    for (const { id } of this.#unclaimed) this.recorder.waitsForSlot(id);
  }

  #claim(): void {
    while (this.#unclaimed.length > 0 && this.#held.size < this.#workerSlots) {
      const keys = this.#unclaimed.splice(0, this.#workerSlots - this.#held.size);
      for (const row of this.#transaction("worker", (tx) => s.claimAttempts(tx, keys, WORKER))) this.#hold(row);
    }
  }

  #hold(row: TaskRow): void {
    const { id, epoch } = row.committed;
    const outcome = this.#waits.get(id)?.outcome ?? this.#outcomes.draw(row, row.committed, this.#agenda.now);
    const held = { id, epoch, row, outcome, startedAt: this.#agenda.now };
    this.#held.set(id, held);
    this.#agenda.after(held.outcome.seconds * 1000, () => this.#finish(held));
  }

  #finish(held: Held): void {
    if (!this.#held.delete(held.id)) return;
    if (this.#goesToWait(held)) return this.#claim();
    if (held.outcome.wait !== undefined) this.#waits.delete(held.id);
    const { row, id, epoch, outcome } = held;
    const { tryNumber, maxTries } = row.committed;
    const { state, retryable, branchDecision, reason } = outcome;
    if (state === "failed" && hasTryLeft({ tryNumber, maxTries, retryable })) this.#retry(held);
    else {
      this.#transaction("worker", (tx) => s.finishAttempts(tx, [{ id, epoch, state, branchDecision, reason }]));
      this.#wake(row);
    }
    this.#claim();
  }

  // Waits without a worker.

  /** A process that ends because its task waits. */
  #goesToWait({ id, epoch, row, outcome, startedAt }: Held): boolean {
    const { wait } = outcome;
    if (wait === undefined) return false;
    const { now } = this.#agenda;
    const waiting = this.#waits.get(id);
    if (wait.mode === "deferred") {
      // It resumed, and this was its second half.
      if (waiting !== undefined) return false;
      const until = now + wait.seconds * 1000;
      this.#waits.set(id, { outcome, until });
      this.#transaction("worker", (tx) => s.deferAttempts(tx, [{ id, epoch }]));
      const key = { id, epoch: row.committed.epoch };
      this.#agenda.at(until, () => this.#endWait(row, key));
      return true;
    }
    const until = waiting?.until ?? startedAt + wait.seconds * 1000;
    if (startedAt >= until) return false;
    this.#waits.set(id, { outcome, until });
    const delaySeconds = wait.pokeInterval;
    this.#transaction("worker", (tx) => s.rescheduleAttempts(tx, [{ id, epoch, delaySeconds }]));
    this.#agenda.after(delaySeconds * 1000, () => this.#wake(row));
    return true;
  }

  /** A task that begins with its trigger. */
  #beginWait(row: TaskRow): void {
    const outcome = this.#outcomes.draw(row, row.committed, this.#agenda.now);
    const until = this.#agenda.now + (outcome.wait?.seconds ?? 0) * 1000;
    const { id, epoch } = row.committed;
    this.#waits.set(id, { outcome, until });
    this.#agenda.at(until, () => this.#endWait(row, { id, epoch }));
  }

  /** Nothing happens to an attempt that is another by now, or whose wait somebody ended. */
  #endWait(row: TaskRow, { id, epoch }: AttemptKey): void {
    const waiting = this.#waits.get(id);
    if (waiting === undefined) return;
    const { outcome } = waiting;
    const endsIt = row.node.spec.startTrigger?.onEvent === "end" && outcome.wait?.timedOut !== true;
    if (!endsIt) {
      this.#transaction("triggerer", (tx) => s.resumeDeferred(tx, [{ id, epoch }]));
      return this.#wake(row);
    }
    this.#waits.delete(id);
    const { state, reason, retryable } = outcome;
    const { tryNumber, maxTries } = row.committed;
    if (state === "failed" && hasTryLeft({ tryNumber, maxTries, retryable })) {
      const delaySeconds = this.#retryDelay(row);
      this.#transaction("triggerer", (tx) => s.retryDeferred(tx, [{ id, epoch, delaySeconds, reason: reason ?? "" }]));
      this.#agenda.after(delaySeconds * 1000, () => this.#wake(row));
    } else {
      this.#transaction("triggerer", (tx) =>
        s.finishDeferred(tx, [{ id, epoch, state, branchDecision: null, reason }]),
      );
      this.#wake(row);
    }
  }

  #retryDelay(row: TaskRow): number {
    const { tryNumber } = row.committed;
    const jitter = jitterOf(`${this.dag.dagId}#${row.taskId}#${row.run.runId}#${tryNumber}`);
    return retryDelaySeconds(row.node.spec, tryNumber, jitter, this.#deps.settings.maxTaskRetryDelay);
  }

  #retry({ row, id, epoch, outcome }: Held): void {
    const delaySeconds = this.#retryDelay(row);
    const retry = { id, epoch, delaySeconds, free: false, infra: false, reason: outcome.reason ?? "" };
    this.#transaction("worker", (tx) => s.retryAttempts(tx, [retry]));
    if (delaySeconds === 0) return this.#wake(row);
    this.#agenda.after(delaySeconds * 1000, () => this.#wake(row));
  }

  #wake(row: TaskRow): void {
    const tasks = this.#named.get(row.run);
    if (tasks === undefined) this.#named.set(row.run, new Set([row.taskId]));
    else tasks?.add(row.taskId);
    this.#requestPass();
  }

  /** The processes of these attempts end at once. */
  #confirm(ids: readonly number[]): void {
    for (const id of ids) {
      const row = this.store.attempts.get(id);
      if (row === undefined || !this.#held.delete(id)) continue;
      const { epoch } = row.committed;
      this.#transaction("worker", (tx) => s.confirmStopped(tx, [{ id, epoch }]));
      this.#wake(row);
    }
    if (ids.length > 0) this.#claim();
  }

  #loseWorker(): void {
    this.#heartbeat();
    this.#held.clear();
    const found = this.#whenDecided(this.#agenda.now + this.#deps.settings.lease * 1000 + 1);
    this.#agenda.at(found, () => {
      this.#heartbeat();
      for (const row of this.#transaction("scheduler", (tx) => handleLostAttempts(tx, this.#deps))) this.#wake(row);
    });
    this.#claim();
  }

  /** What lives says so just before it is asked. */
  #heartbeat(): void {
    this.#transaction("worker", (tx) => s.heartbeatAttempts(tx, [...this.#held.keys()], WORKER));
  }
}

/** No handler runs here, so that nobody knows how long a list is: a mapped task has one instance. */
const unmapped = (spec: DagSpec): DagSpec => ({
  ...spec,
  groups: spec.groups.map(({ mapping: _mapping, ...group }) => group),
  tasks: spec.tasks.map(({ mapping: _mapping, mapGroupId: _group, ...task }) => task),
});
