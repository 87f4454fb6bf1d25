// One small installation under faults: two schedulers, two workers, a store, a queue that loses, doubles and delays. Drawn
// from a seed, so that a seed is a history. At HEALED the faults end; then everything has to come to its end.
import { buildDagGraph, pointerFor } from "@millrace/shared/model";
import { Agenda } from "../engine/agenda.ts";
import { randomOf } from "../engine/random.ts";
import { statements, type Statements } from "../engine/statements.ts";
import { Store } from "../engine/store.ts";
import type { AttemptKey } from "../engine/task-statements.ts";
import { drawDag } from "./draw-dag.ts";
import { planFaults, type Cast } from "./faults.ts";
import { Driver, Process } from "./fibers.ts";
import { Invariants } from "./invariants.ts";
import { Network } from "./network.ts";
import { schedule } from "./schedule.ts";
import { HEALED, SETTINGS, Worker, type Stage } from "./stage.ts";
import { attempt, beat } from "./work.ts";

const GIVEN_UP = 200_000;
const EACH = 2;
const ANSWERS_LOST = 0.02;

export interface WorldOptions {
  /** Broken ones, to see that they are caught. */
  readonly statements?: Partial<Statements>;
  readonly trace?: string[];
}

/** @throws Violation, RefusedByGuard */
export function playSeed(seed: number, options: WorldOptions = {}): void {
  new World(seed, options).play();
}

class World implements Cast {
  readonly schedulers: Process[] = [];
  readonly workers: Worker[] = [];
  readonly #stage: Stage;
  readonly #network: Network;
  readonly #expectedRuns: number;
  #jobs = 0;
  #tokens = 0;

  constructor(seed: number, { statements: broken, trace }: WorldOptions) {
    const random = randomOf(seed);
    const agenda = new Agenda(0);
    this.#expectedRuns = 1 + random.integer(3);
    const spec = drawDag(random, this.#expectedRuns);
    const store = new Store(agenda, new Map([["default_pool", 1 + random.integer(3)]]));
    store.addDag(buildDagGraph(spec), pointerFor(spec, undefined, 0), {
      maxActiveRuns: 1 + random.integer(2),
      maxActiveTasks: 1 + random.integer(3),
    });
    store.isShared = true;
    const invariants = new Invariants(store, SETTINGS.parallelism);
    invariants.trace = trace;
    store.watch = invariants;
    const deps = { s: broken === undefined ? statements : { ...statements, ...broken }, settings: SETTINGS };
    this.#stage = { random, agenda, store, driver: new Driver(store, random), invariants, deps, trace };
    this.#network = new Network(this.#stage, this.schedulers, (message) => this.#deliver(message));
  }

  play(): void {
    const { agenda, driver, invariants } = this.#stage;
    for (let place = 0; place < EACH; place++) {
      this.startScheduler(place);
      this.startWorker(place);
    }
    driver.answersLost = ANSWERS_LOST;
    planFaults(this.#stage, this);
    agenda.at(HEALED, () => (driver.answersLost = 0));
    while (!this.#isOver() && agenda.step(GIVEN_UP));
    invariants.ended(this.#expectedRuns);
  }

  startScheduler(place: number): void {
    const scheduler = new Process(`scheduler ${place}`);
    this.schedulers[place] = scheduler;
    this.#stage.driver.start(scheduler, schedule(this.#stage, this.#network, scheduler.name));
  }

  startWorker(place: number): void {
    const worker = new Worker(++this.#jobs);
    this.workers[place] = worker;
    this.#stage.driver.start(worker, beat(this.#stage, worker));
  }

  #deliver(message: AttemptKey): void {
    const { agenda, driver, random } = this.#stage;
    const worker = random.pick(this.workers);
    if (!worker.isAlive) return agenda.after(1_000, () => this.#deliver(message));
    driver.start(worker, attempt(this.#stage, this.#network, worker, message, ++this.#tokens));
  }

  #isOver(): boolean {
    const { store } = this.#stage;
    if (store.runs.length < this.#expectedRuns || store.occupying.size > 0) return false;
    return store.dags.every((dag) => dag.activeRuns.size === 0);
  }
}
