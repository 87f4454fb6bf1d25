// Who acts in a fault test: processes, each of several strands of work, driven step by step over the virtual clock. A
// process can crash (its strands are gone, its transactions rolled back) and freeze (it goes on later, and the server has
// ended what it left open meanwhile).
import type { Agenda } from "../engine/agenda.ts";
import type { Random } from "../engine/random.ts";
import type { Lockable } from "../engine/rows.ts";
import { TRAVEL, type Pause, type Steps } from "../engine/steps.ts";
import type { Store } from "../engine/store.ts";
import type { Transaction } from "../engine/transaction.ts";

/** A number of milliseconds to sleep, besides the pauses of a transaction. */
export type StrandOf<T> = Generator<Pause | number, T, void>;
export type Strand = StrandOf<void>;

/** The server ended the transaction: a lock was waited for too long, or its client said nothing. */
export class Aborted extends Error {}
/** It was committed, and nobody told. */
export class AnswerLost extends Error {}

// Made once: what costs most of an error is its stack, which says nothing here.
const ANSWER_LOST = new AnswerLost();

const LOCK_TIMEOUT = 10_000;
const IDLE_TRANSACTION_TIMEOUT = 4_000;
const TRAVEL_AT_MOST = 20;

interface Fiber {
  readonly process: Process;
  readonly strand: Strand;
  transaction: Transaction | undefined;
  /** Thrown into it with its next step. */
  failure: Error | undefined;
  /** Numbers its waits, so that what a wait was for does not come twice. */
  wait: number;
  isAsleep: boolean;
}

export class Process {
  readonly name: string;
  readonly fibers = new Set<Fiber>();
  isAlive = true;
  frozenUntil = 0;

  constructor(name: string) {
    this.name = name;
  }
}

export class Driver {
  readonly #agenda: Agenda;
  readonly #random: Random;
  readonly #store: Store;
  readonly #waiting = new Map<Lockable, Fiber[]>();
  #current: Fiber | undefined;
  /** Whether answers get lost. */
  answersLost = 0;

  constructor(store: Store, random: Random) {
    this.#agenda = store.agenda;
    this.#random = random;
    this.#store = store;
    store.onReleased = (locks) => this.#released(locks);
  }

  start(process: Process, strand: Strand): void {
    const fiber: Fiber = { process, strand, transaction: undefined, failure: undefined, wait: 0, isAsleep: false };
    process.fibers.add(fiber);
    this.#resumeAfter(fiber, 0);
  }

  /** Ends the sleep of a process that sleeps. */
  rouse(process: Process): boolean {
    for (const fiber of process.fibers) {
      if (!fiber.isAsleep) continue;
      this.#resumeAfter(fiber, 0);
      return true;
    }
    return false;
  }

  crash(process: Process): void {
    process.isAlive = false;
    for (const fiber of process.fibers) {
      fiber.wait++;
      fiber.transaction?.rollback();
    }
    process.fibers.clear();
  }

  freeze(process: Process, ms: number): void {
    process.frozenUntil = this.#agenda.now + ms;
    if (ms <= IDLE_TRANSACTION_TIMEOUT) return;
    this.#agenda.after(IDLE_TRANSACTION_TIMEOUT, () => {
      for (const fiber of process.fibers) if (fiber.transaction?.isOpen === true) this.#abort(fiber);
    });
  }

  /** One transaction of the strand that runs now. @throws Aborted, AnswerLost */
  *transaction<T>(owner: string, work: (tx: Transaction) => Steps<T>): Steps<T> {
    const fiber = this.#current;
    if (fiber === undefined) throw new Error("a transaction belongs to a strand");
    const tx = this.#store.begin(owner);
    fiber.transaction = tx;
    try {
      const result = yield* work(tx);
      yield TRAVEL;
      tx.commit();
      if (this.answersLost > 0 && this.#random.chance(this.answersLost)) throw ANSWER_LOST;
      yield TRAVEL;
      return result;
    } finally {
      tx.rollback();
      fiber.transaction = undefined;
    }
  }

  #step(fiber: Fiber): void {
    const { process, failure } = fiber;
    if (process.frozenUntil > this.#agenda.now) {
      this.#resumeAfter(fiber, process.frozenUntil - this.#agenda.now);
      return;
    }
    fiber.isAsleep = false;
    fiber.failure = undefined;
    this.#current = fiber;
    const { done, value } = failure === undefined ? fiber.strand.next() : fiber.strand.throw(failure);
    this.#current = undefined;
    if (done === true) process.fibers.delete(fiber);
    else if (value === TRAVEL) this.#resumeAfter(fiber, this.#random.integer(TRAVEL_AT_MOST));
    else if (typeof value === "number") {
      fiber.isAsleep = true;
      this.#resumeAfter(fiber, value);
    } else if (typeof value === "object") this.#waitFor(fiber, value);
  }

  #resumeAfter(fiber: Fiber, ms: number): void {
    const wait = ++fiber.wait;
    this.#agenda.after(ms, () => {
      if (fiber.wait === wait) this.#step(fiber);
    });
  }

  #waitFor(fiber: Fiber, lock: Lockable): void {
    const wait = ++fiber.wait;
    const others = this.#waiting.get(lock);
    if (others === undefined) this.#waiting.set(lock, [fiber]);
    else others.push(fiber);
    this.#agenda.after(LOCK_TIMEOUT, () => {
      if (fiber.wait === wait) this.#abort(fiber);
    });
  }

  #abort(fiber: Fiber): void {
    fiber.transaction?.rollback();
    fiber.failure = new Aborted();
    this.#resumeAfter(fiber, 0);
  }

  #released(locks: readonly Lockable[]): void {
    if (this.#waiting.size === 0) return;
    for (const lock of locks) {
      const waiting = this.#waiting.get(lock);
      if (waiting === undefined) continue;
      this.#waiting.delete(lock);
      for (const fiber of waiting) if (fiber.process.isAlive) this.#resumeAfter(fiber, 0);
    }
  }
}
