// Who acts in a fault test: processes, each of several strands of work, driven step by step over the virtual clock. A
// process can crash (its strands are gone, its transactions rolled back) and freeze (it goes on later, and the server has
// ended what it left open meanwhile).
import type { Agenda } from "../engine/agenda.ts";
import type { Random } from "../engine/random.ts";
import type { Lockable } from "../engine/rows.ts";
import { TRAVEL, type Pause, type Steps } from "../engine/steps.ts";
import type { Store } from "../engine/store.ts";
import type { Transaction } from "../engine/transaction.ts";

/** The strand goes on when its transaction is over. */
const CALL = Symbol("call");

/** A number of milliseconds to sleep, besides the pauses of a transaction. */
export type StrandOf<T> = Generator<Pause | number | typeof CALL, T, void>;
export type Strand = StrandOf<void>;

/** The server ended the transaction: a lock was waited for too long, or its client said nothing. */
export class Aborted extends Error {}
/** It was committed, and nobody told. */
export class AnswerLost extends Error {}

// Made once: what costs most of an error is its stack, which says nothing here.
const ANSWER_LOST = new AnswerLost();
const ABORTED = new Aborted();

const LOCK_TIMEOUT = 10_000;
const IDLE_TRANSACTION_TIMEOUT = 4_000;
const TRAVEL_AT_MOST = 20;

/**
 * A transaction that is under way. It is stepped by itself and not through the strand that waits for it: most steps are
 * of transactions, and each generator that a step has to go through costs as much as the step.
 */
interface Call {
  readonly tx: Transaction;
  readonly work: Steps<unknown>;
  phase: "works" | "commits" | "answers";
  result: unknown;
}

interface Fiber {
  readonly process: Process;
  readonly strand: Strand;
  call: Call | undefined;
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
    const fiber: Fiber = { process, strand, call: undefined, failure: undefined, wait: 0, isAsleep: false };
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
      fiber.call?.tx.rollback();
    }
    process.fibers.clear();
  }

  freeze(process: Process, ms: number): void {
    process.frozenUntil = this.#agenda.now + ms;
    if (ms <= IDLE_TRANSACTION_TIMEOUT) return;
    this.#agenda.after(IDLE_TRANSACTION_TIMEOUT, () => {
      for (const fiber of process.fibers) if (fiber.call?.tx.isOpen === true) this.#abort(fiber);
    });
  }

  /** One transaction of the strand that runs now. @throws Aborted, AnswerLost */
  *transaction<T>(owner: string, work: (tx: Transaction) => Steps<T>): StrandOf<T> {
    const fiber = this.#current;
    if (fiber === undefined) throw new Error("a transaction belongs to a strand");
    const tx = this.#store.begin(owner);
    const call: Call = { tx, work: work(tx), phase: "works", result: undefined };
    fiber.call = call;
    yield CALL;
    return call.result as T; // of this work
  }

  #step(fiber: Fiber): void {
    const { process, call, failure } = fiber;
    if (process.frozenUntil > this.#agenda.now) this.#resumeAfter(fiber, process.frozenUntil - this.#agenda.now);
    else if (call === undefined || failure !== undefined) this.#goOn(fiber, failure);
    else if (call.phase === "works") this.#work(fiber, call);
    else if (call.phase === "commits") this.#commit(fiber, call);
    else this.#goOn(fiber, undefined);
  }

  /** The strand itself. */
  #goOn(fiber: Fiber, failure: Error | undefined): void {
    fiber.call?.tx.rollback();
    fiber.call = undefined;
    fiber.isAsleep = false;
    fiber.failure = undefined;
    this.#current = fiber;
    const { done, value } = failure === undefined ? fiber.strand.next() : fiber.strand.throw(failure);
    this.#current = undefined;
    // Set by the strand, if it began a transaction.
    const begun = fiber.call as Call | undefined;
    if (done === true) fiber.process.fibers.delete(fiber);
    else if (begun !== undefined) this.#work(fiber, begun);
    else if (value === TRAVEL) this.#travel(fiber);
    else if (typeof value === "number") {
      fiber.isAsleep = true;
      this.#resumeAfter(fiber, value);
    }
  }

  #work(fiber: Fiber, call: Call): void {
    const { done, value } = call.work.next();
    if (done !== true) {
      if (value === TRAVEL) this.#travel(fiber);
      else this.#waitFor(fiber, value);
      return;
    }
    call.result = value;
    call.phase = "commits";
    // What holds nothing has nothing to commit: its last statement answers for it.
    if (call.tx.holdsLocks) this.#travel(fiber);
    else this.#commit(fiber, call);
  }

  #commit(fiber: Fiber, call: Call): void {
    call.tx.commit();
    if (this.answersLost > 0 && this.#random.chance(this.answersLost)) return this.#goOn(fiber, ANSWER_LOST);
    call.phase = "answers";
    this.#travel(fiber);
  }

  #travel(fiber: Fiber): void {
    this.#resumeAfter(fiber, this.#random.integer(TRAVEL_AT_MOST));
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
    fiber.call?.tx.rollback();
    fiber.failure = ABORTED;
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
