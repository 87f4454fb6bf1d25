// The workers and the triggerer of a simulation: tries that last and end as their outcomes say, and waits without a worker.
import { hasTryLeft, jitterOf, retryDelaySeconds } from "@millrace/shared/model";
import { handleLostAttempts } from "../engine/recovery.ts";
import type { TaskRow } from "../engine/rows.ts";
import { statements as s } from "../engine/statements.ts";
import type { AttemptKey } from "../engine/task-statements.ts";
import type { DrawnOutcome, Outcomes } from "./outcomes.ts";
import type { SimulatedWorld } from "./simulated-world.ts";

const WORKER = 1;

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

/** Who is told what ended. */
interface Scheduler {
  wake(row: TaskRow): void;
  /** The moment itself, or the end of the outage that it falls into. */
  whenDecided(at: number): number;
}

export class SimulatedWorkers {
  readonly #world: SimulatedWorld;
  readonly #outcomes: Outcomes;
  readonly #slots: number;
  readonly #scheduler: Scheduler;
  readonly #held = new Map<number, Held>();
  /** By attempt: tries that wait, or go on after their wait. */
  readonly #waits = new Map<number, Waiting>();
  readonly #unclaimed: (AttemptKey & { readonly token: number })[] = [];

  /** @param slots how many tries may be under way at once */
  constructor(world: SimulatedWorld, outcomes: Outcomes, slots: number, scheduler: Scheduler) {
    this.#world = world;
    this.#outcomes = outcomes;
    this.#slots = slots;
    this.#scheduler = scheduler;
  }

  send(keys: readonly AttemptKey[]): void {
    const { now } = this.#world.agenda;
    const delay = this.#world.options.faults.delays.find(({ from, until }) => from <= now && now < until)?.ms ?? 0;
    if (delay === 0) this.#deliver(keys);
    else this.#world.agenda.after(delay, () => this.#deliver(keys));
  }

  #deliver(keys: readonly AttemptKey[]): void {
    for (const { id, epoch } of keys) this.#unclaimed.push({ id, epoch, token: id });
    this.#claim();
    for (const { id } of this.#unclaimed) this.#world.recorder.waitsForSlot(id);
  }

  #claim(): void {
    while (this.#unclaimed.length > 0 && this.#held.size < this.#slots) {
      const keys = this.#unclaimed.splice(0, this.#slots - this.#held.size);
      for (const row of this.#world.transaction("worker", (tx) => s.claimAttempts(tx, keys, WORKER))) this.#hold(row);
    }
  }

  #hold(row: TaskRow): void {
    const { id, epoch } = row.committed;
    const outcome = this.#waits.get(id)?.outcome ?? this.#outcomes.draw(row, row.committed, this.#world.agenda.now);
    const held = { id, epoch, row, outcome, startedAt: this.#world.agenda.now };
    this.#held.set(id, held);
    this.#world.agenda.after(held.outcome.seconds * 1000, () => this.#finish(held));
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
      this.#world.transaction("worker", (tx) => s.finishAttempts(tx, [{ id, epoch, state, branchDecision, reason }]));
      this.#scheduler.wake(row);
    }
    this.#claim();
  }

  /** A process that ends because its task waits. */
  #goesToWait({ id, epoch, row, outcome, startedAt }: Held): boolean {
    const { wait } = outcome;
    if (wait === undefined) return false;
    const { now } = this.#world.agenda;
    const waiting = this.#waits.get(id);
    if (wait.mode === "deferred") {
      // It resumed, and this was its second half.
      if (waiting !== undefined) return false;
      const until = now + wait.seconds * 1000;
      this.#waits.set(id, { outcome, until });
      this.#world.transaction("worker", (tx) => s.deferAttempts(tx, [{ id, epoch }]));
      const key = { id, epoch: row.committed.epoch };
      this.#world.agenda.at(until, () => this.#endWait(row, key));
      return true;
    }
    const until = waiting?.until ?? startedAt + wait.seconds * 1000;
    if (startedAt >= until) return false;
    this.#waits.set(id, { outcome, until });
    const delaySeconds = wait.pokeInterval;
    this.#world.transaction("worker", (tx) => s.rescheduleAttempts(tx, [{ id, epoch, delaySeconds }]));
    this.#world.agenda.after(delaySeconds * 1000, () => this.#scheduler.wake(row));
    return true;
  }

  /** A task that begins with its trigger. */
  beginWait(row: TaskRow): void {
    const outcome = this.#outcomes.draw(row, row.committed, this.#world.agenda.now);
    const until = this.#world.agenda.now + (outcome.wait?.seconds ?? 0) * 1000;
    const { id, epoch } = row.committed;
    this.#waits.set(id, { outcome, until });
    this.#world.agenda.at(until, () => this.#endWait(row, { id, epoch }));
  }

  /** Nothing happens to an attempt that is another by now, or whose wait somebody ended. */
  #endWait(row: TaskRow, { id, epoch }: AttemptKey): void {
    const waiting = this.#waits.get(id);
    if (waiting === undefined) return;
    const { outcome } = waiting;
    const endsIt = row.node.spec.startTrigger?.onEvent === "end" && outcome.wait?.timedOut !== true;
    if (!endsIt) {
      this.#world.transaction("triggerer", (tx) => s.resumeDeferred(tx, [{ id, epoch }]));
      return this.#scheduler.wake(row);
    }
    this.#waits.delete(id);
    const { state, reason, retryable } = outcome;
    const { tryNumber, maxTries } = row.committed;
    if (state === "failed" && hasTryLeft({ tryNumber, maxTries, retryable })) {
      const delaySeconds = this.#retryDelay(row);
      this.#world.transaction("triggerer", (tx) =>
        s.retryDeferred(tx, [{ id, epoch, delaySeconds, reason: reason ?? "" }]),
      );
      this.#world.agenda.after(delaySeconds * 1000, () => this.#scheduler.wake(row));
    } else {
      this.#world.transaction("triggerer", (tx) =>
        s.finishDeferred(tx, [{ id, epoch, state, branchDecision: null, reason }]),
      );
      this.#scheduler.wake(row);
    }
  }

  #retryDelay(row: TaskRow): number {
    const { tryNumber } = row.committed;
    const jitter = jitterOf(`${this.#world.dag.dagId}#${row.taskId}#${row.run.runId}#${tryNumber}`);
    return retryDelaySeconds(row.node.spec, tryNumber, jitter, this.#world.deps.settings.maxTaskRetryDelay);
  }

  #retry({ row, id, epoch, outcome }: Held): void {
    const delaySeconds = this.#retryDelay(row);
    const retry = { id, epoch, delaySeconds, free: false, infra: false, reason: outcome.reason ?? "" };
    this.#world.transaction("worker", (tx) => s.retryAttempts(tx, [retry]));
    if (delaySeconds === 0) return this.#scheduler.wake(row);
    this.#world.agenda.after(delaySeconds * 1000, () => this.#scheduler.wake(row));
  }

  /** The processes of these attempts end at once. */
  confirm(ids: readonly number[]): void {
    for (const id of ids) {
      const row = this.#world.store.attempts.get(id);
      if (row === undefined || !this.#held.delete(id)) continue;
      const { epoch } = row.committed;
      this.#world.transaction("worker", (tx) => s.confirmStopped(tx, [{ id, epoch }]));
      this.#scheduler.wake(row);
    }
    if (ids.length > 0) this.#claim();
  }

  loseWorker(): void {
    this.#heartbeat();
    this.#held.clear();
    const found = this.#scheduler.whenDecided(this.#world.agenda.now + this.#world.deps.settings.lease * 1000 + 1);
    this.#world.agenda.at(found, () => {
      this.#heartbeat();
      for (const row of this.#world.transaction("scheduler", (tx) => handleLostAttempts(tx, this.#world.deps)))
        this.#scheduler.wake(row);
    });
    this.#claim();
  }

  /** What lives says so just before it is asked. */
  #heartbeat(): void {
    this.#world.transaction("worker", (tx) => s.heartbeatAttempts(tx, [...this.#held.keys()], WORKER));
  }
}
