// One small installation under faults: two schedulers, two workers, a store, a queue that loses, doubles and delays. Drawn
// from a seed, so that a seed is a history. At HEALED the faults end; then everything has to come to its end.
import type { DagSpec, TaskSpec } from "../../spec/index.ts";
import { buildDagGraph, hasTryLeft, pointerFor } from "@millrace/shared/model";
import { Agenda } from "../engine/agenda.ts";
import { randomOf, type Random } from "../engine/random.ts";
import { handleLostAttempts, timeOutRuns } from "../engine/recovery.ts";
import type { RunRow, TaskRow } from "../engine/rows.ts";
import { addDueTasks, createDueRuns, schedulingPass, type SchedulerDeps } from "../engine/scheduling-pass.ts";
import { DEFAULT_SETTINGS } from "../engine/settings.ts";
import { statements, type Statements } from "../engine/statements.ts";
import { TRAVEL } from "../engine/steps.ts";
import { Store } from "../engine/store.ts";
import type { AttemptKey } from "../engine/task-statements.ts";
import { Aborted, AnswerLost, Driver, Process, type Strand, type StrandOf } from "./fibers.ts";
import { Invariants } from "./invariants.ts";

const HEALED = 40_000;
const GIVEN_UP = 200_000;
const TICK = 4_000;
const HEARTBEAT = 3_000;
const REDISPATCH_SECONDS = 8;
const QUEUED_TIMEOUT_SECONDS = 600;
const SETTINGS = { ...DEFAULT_SETTINGS, parallelism: 3, sweepInterval: 8, lease: 10 };
const INTERVAL_SECONDS = 10;

interface Worker extends Process {
  readonly job: number;
  readonly held: Map<number, { readonly epoch: number; fate: "lives" | "lost" | "asked" }>;
}

export interface WorldOptions {
  /** Broken ones, to see that they are caught. */
  readonly statements?: Partial<Statements>;
  readonly trace?: string[];
}

/** @throws Violation, RefusedByGuard */
export function playSeed(seed: number, options: WorldOptions = {}): void {
  new World(seed, options).play();
}

class World {
  readonly #random: Random;
  readonly #agenda = new Agenda(0);
  readonly #store: Store;
  readonly #driver: Driver;
  readonly #invariants: Invariants;
  readonly #deps: SchedulerDeps;
  readonly #trace: string[] | undefined;
  readonly #expectedRuns: number;
  readonly #wakes: { readonly run: RunRow; readonly taskId: string | null }[] = [];
  #looks = true;
  readonly #schedulers: Process[] = [];
  readonly #workers: Worker[] = [];
  #jobs = 0;
  #tokens = 0;

  constructor(seed: number, options: WorldOptions) {
    const random = (this.#random = randomOf(seed));
    this.#expectedRuns = 1 + random.integer(3);
    const spec = drawDag(random, this.#expectedRuns);
    this.#store = new Store(this.#agenda, new Map([["default_pool", 1 + random.integer(3)]]));
    this.#store.addDag(buildDagGraph(spec), pointerFor(spec, undefined, 0), {
      maxActiveRuns: 1 + random.integer(2),
      maxActiveTasks: 1 + random.integer(3),
    });
    this.#invariants = new Invariants(this.#store, SETTINGS.parallelism);
    this.#trace = this.#invariants.trace = options.trace;
    this.#store.watch = this.#invariants;
    this.#store.isShared = true;
    this.#driver = new Driver(this.#store, random);
    this.#deps = { s: { ...statements, ...options.statements }, settings: SETTINGS };
  }

  play(): void {
    for (let i = 0; i < 2; i++) {
      this.#startScheduler(i);
      this.#startWorker(i);
    }
    this.#driver.answersLost = 0.02;
    this.#planFaults();
    this.#agenda.at(HEALED, () => (this.#driver.answersLost = 0));
    while (!this.#isOver() && this.#agenda.step(GIVEN_UP));
    this.#invariants.ended(this.#expectedRuns);
  }

  #isOver(): boolean {
    if (this.#store.runs.length < this.#expectedRuns || this.#store.occupying.size > 0) return false;
    return this.#store.dags.every((dag) => dag.activeRuns.size === 0);
  }

  // Faults.

  #planFaults(): void {
    const faults = 1 + this.#random.integer(5);
    for (let i = 0; i < faults; i++) this.#agenda.at(this.#random.integer(HEALED), () => this.#strike());
  }

  #strike(): void {
    const random = this.#random;
    const place = random.integer(2);
    const target = random.chance(0.5) ? this.#schedulers[place] : this.#workers[place];
    const kind = random.integer(4);
    if (kind === 3) return this.#driver.start(new Process("user"), this.#interfere());
    if (target === undefined || !target.isAlive) return;
    if (kind === 0) {
      const ms = 1_000 + random.integer(2 * SETTINGS.lease * 1000);
      this.#trace?.push(`${this.#agenda.now} ${target.name} freezes for ${ms}`);
      return this.#driver.freeze(target, ms);
    }
    this.#trace?.push(`${this.#agenda.now} ${target.name} crashes`);
    this.#driver.crash(target);
    const again = () => ("held" in target ? this.#startWorker(place) : this.#startScheduler(place));
    this.#agenda.after(500 + random.integer(8_000), again);
  }

  /** Somebody stops or restarts what runs. */
  *#interfere(): Strand {
    const running = [...this.#store.occupying].filter((row) => row.committed.state === "running");
    if (running.length === 0) return;
    const row = this.#random.pick(running);
    const to = this.#random.chance(0.5) ? "restarting" : "shutdown";
    const mark = to === "restarting" ? undefined : this.#random.pick(["success", "failed"] as const);
    const stop = { id: row.committed.id, to, mark, reason: "asked" } as const;
    try {
      yield* this.#driver.transaction("user", (tx) => this.#deps.s.stopAttempts(tx, [stop]));
    } catch (error) {
      allow(error);
    }
  }

  get #isHealed(): boolean {
    return this.#agenda.now >= HEALED;
  }

  /** How long something in Redis takes; undefined: it is lost. */
  #transit(): number | undefined {
    if (this.#isHealed) return this.#random.integer(10);
    if (this.#random.chance(0.1)) return undefined;
    return this.#random.chance(0.1) ? this.#random.integer(15_000) : this.#random.integer(10);
  }

  #wake(run: RunRow, taskId: string | null): void {
    const ms = this.#transit();
    if (ms === undefined) return;
    this.#agenda.after(ms, () => {
      this.#wakes.push({ run, taskId });
      this.#rouseOne();
    });
  }

  #rouseOne(): void {
    for (const scheduler of this.#schedulers) if (scheduler.isAlive && this.#driver.rouse(scheduler)) return;
  }

  #send(key: AttemptKey): void {
    for (let copies = !this.#isHealed && this.#random.chance(0.1) ? 2 : 1; copies > 0; copies--) {
      const ms = this.#transit();
      if (ms !== undefined) this.#agenda.after(ms, () => this.#deliver(key));
    }
  }

  #deliver(key: AttemptKey): void {
    const worker = this.#random.pick(this.#workers);
    if (worker.isAlive) this.#driver.start(worker, this.#attempt(worker, key));
    else this.#agenda.after(1_000, () => this.#deliver(key));
  }

  // A scheduler.

  #startScheduler(place: number): void {
    const scheduler = new Process(`scheduler ${place}`);
    this.#schedulers[place] = scheduler;
    this.#driver.start(scheduler, this.#schedule(scheduler));
  }

  *#schedule({ name }: Process): Strand {
    const { s } = this.#deps;
    let named = new Map<RunRow, Set<string> | null>();
    let nextTick = 0;
    for (;;) {
      try {
        const { now } = this.#agenda;
        if (this.#wakes.length === 0 && named.size === 0 && now < nextTick && !this.#looks) yield nextTick - now;
        for (const { run, taskId } of this.#wakes.splice(0)) {
          const tasks = named.get(run);
          if (taskId === null) named.set(run, null);
          else if (tasks === undefined) named.set(run, new Set([taskId]));
          else tasks?.add(taskId);
        }
        const isTick = this.#agenda.now >= nextTick;
        if (isTick) {
          nextTick = this.#agenda.now + TICK;
          yield* this.#recover(name);
          yield* this.#driver.transaction(name, (tx) => createDueRuns(tx, this.#deps));
          yield* this.#driver.transaction(name, (tx) => addDueTasks(tx, named));
        }
        const startRuns = isTick || this.#looks;
        this.#looks = false;
        const request = { named, startRuns, isSweep: isTick };
        const outcome = yield* this.#driver.transaction(name, (tx) => schedulingPass(tx, this.#deps, request));
        named = new Map();
        for (const key of outcome.queued) this.#send(key);
        for (const run of outcome.next) this.#wake(run, null);
        if (outcome.finished.length > 0 || outcome.started > 0) this.#looks = true;
        if (outcome.finished.length > 0) {
          yield* this.#driver.transaction(name, (tx) => s.pauseFailingDags(tx, this.#store.dags));
        }
      } catch (error) {
        allow(error);
        yield 250;
      }
    }
  }

  *#recover(name: string): Strand {
    const { s } = this.#deps;
    const lost = yield* this.#driver.transaction(name, (tx) => handleLostAttempts(tx, this.#deps));
    for (const row of lost) this.#wake(row.run, row.taskId);
    yield* this.#driver.transaction(name, (tx) => timeOutRuns(tx, this.#deps));
    for (const key of yield* this.#driver.transaction(name, (tx) => s.redispatchAttempts(tx, REDISPATCH_SECONDS)))
      this.#send(key);
    const unclaimed = yield* this.#driver.transaction(name, (tx) =>
      s.failUnclaimedAttempts(tx, QUEUED_TIMEOUT_SECONDS),
    );
    for (const row of unclaimed) this.#wake(row.run, row.taskId);
  }

  // A worker.

  #startWorker(place: number): void {
    const job = ++this.#jobs;
    const worker: Worker = Object.assign(new Process(`worker ${job}`), { job, held: new Map() });
    this.#workers[place] = worker;
    this.#driver.start(worker, this.#beat(worker));
  }

  *#beat(worker: Worker): Strand {
    for (;;) {
      yield HEARTBEAT;
      const asked = [...worker.held];
      if (asked.length === 0) continue;
      const ids = asked.map(([id]) => id);
      try {
        const living = yield* this.#driver.transaction(worker.name, (tx) =>
          this.#deps.s.heartbeatAttempts(tx, ids, worker.job),
        );
        for (const [id, held] of asked) {
          const mine = living.find((version) => version.id === id);
          if (mine === undefined) held.fate = "lost";
          else if (mine.state !== "running") held.fate = "asked";
          else if (mine.epoch !== held.epoch) held.fate = "lost";
        }
      } catch (error) {
        allow(error);
      }
    }
  }

  *#attempt(worker: Worker, message: AttemptKey): Strand {
    const token = ++this.#tokens;
    const row = yield* this.#claim(worker, message, token);
    if (row === undefined) return;
    const { id } = message;
    const epoch = message.epoch + 1;
    const held = { epoch, fate: "lives" as "lives" | "lost" | "asked" };
    this.#invariants.started(id, token);
    worker.held.set(id, held);
    const { tryNumber, maxTries } = row.committed;
    let left = this.#random.chance(0.2) ? this.#random.integer(15_000) : this.#random.integer(1_500);
    for (; left > 0 && held.fate === "lives"; left -= 1_000) yield Math.min(left, 1_000);
    const failed = this.#random.chance(0.2);
    if (held.fate === "lives")
      yield* this.#finish(
        worker,
        row,
        { id, epoch },
        failed && hasTryLeft({ tryNumber, maxTries, retryable: true }),
        failed,
      );
    if (held.fate !== "lost") yield* this.#confirmStop(worker, row, id);
    worker.held.delete(id);
    this.#wake(row.run, row.taskId);
  }

  *#claim(worker: Worker, message: AttemptKey, token: number): StrandOf<TaskRow | undefined> {
    const { s } = this.#deps;
    const row = this.#store.attempts.get(message.id);
    for (let isRepeat = false; ; isRepeat = true) {
      try {
        if (isRepeat && row !== undefined) {
          const made = yield* this.#driver.transaction(worker.name, (tx) => s.readClaims(tx, [token], [row]));
          if (made.length > 0) return made[0];
        }
        const claim = { ...message, token };
        const claimed = yield* this.#driver.transaction(worker.name, (tx) => s.claimAttempts(tx, [claim], worker.job));
        return claimed[0];
      } catch (error) {
        allow(error);
        yield 500;
      }
    }
  }

  /** Until the server has answered: a repeat of what was written matches no row any more. */
  *#finish(worker: Worker, row: TaskRow, key: AttemptKey, again: boolean, failed: boolean): Strand {
    const { s } = this.#deps;
    const reason = failed ? "failed" : undefined;
    const delaySeconds = row.node.spec.retryDelay;
    for (;;) {
      try {
        if (again) {
          const retry = { ...key, delaySeconds, free: false, infra: false, reason: "failed" };
          yield* this.#driver.transaction(worker.name, (tx) => s.retryAttempts(tx, [retry]));
        } else {
          const end = {
            ...key,
            state: failed ? ("failed" as const) : ("success" as const),
            branchDecision: null,
            reason,
          };
          yield* this.#driver.transaction(worker.name, (tx) => s.finishAttempts(tx, [end]));
        }
        return;
      } catch (error) {
        allow(error);
        yield 500;
      }
    }
  }

  *#confirmStop(worker: Worker, row: TaskRow, id: number): Strand {
    for (;;) {
      try {
        yield TRAVEL;
        const standing = row.committed;
        if (standing.id !== id || (standing.state !== "restarting" && standing.state !== "shutdown")) return;
        const { epoch } = standing;
        const done = yield* this.#driver.transaction(worker.name, (tx) =>
          this.#deps.s.confirmStopped(tx, [{ id, epoch }]),
        );
        if (done.length > 0) return;
      } catch (error) {
        allow(error);
        yield 500;
      }
    }
  }
}

/** What the real actors are prepared for; everything else ends the test. */
function allow(error: unknown): void {
  if (!(error instanceof Aborted) && !(error instanceof AnswerLost)) throw error;
}

const RULES = ["all_success", "all_success", "all_done", "none_failed"] as const;

function drawDag(random: Random, runs: number): DagSpec {
  const tasks: TaskSpec[] = [];
  const size = 1 + random.integer(4);
  for (let i = 0; i < size; i++) {
    const before = tasks.filter(() => random.chance(0.5)).map((task) => task.taskId);
    tasks.push({
      ...TASK,
      taskId: `t${i}`,
      upstream: before,
      triggerRule: random.pick(RULES),
      retries: random.integer(3),
      retryDelay: random.integer(3) * 2,
      dependsOnPast: random.chance(0.1),
      poolSlots: 1,
    });
  }
  const dates = {
    startDate: new Date(0).toISOString(),
    endDate: new Date((runs - 1) * INTERVAL_SECONDS * 1000).toISOString(),
  };
  return {
    ...DAG,
    ...dates,
    failFast: random.chance(0.1),
    ...(random.chance(0.1) ? { dagrunTimeout: 15 } : {}),
    tasks,
  };
}

const TASK: Omit<TaskSpec, "taskId"> = {
  operator: "task",
  upstream: [],
  inputs: {},
  isSetup: false,
  isTeardown: false,
  onFailureFailDagrun: false,
  owner: "",
  triggerRule: "all_success",
  dependsOnPast: false,
  ignoreFirstDependsOnPast: false,
  waitForPastDependsBeforeSkipping: false,
  waitForDownstream: false,
  retries: 0,
  infraRetries: 0,
  queue: "default",
  pool: "default_pool",
  poolSlots: 1,
  retryDelay: 0,
  retryExponentialBackoff: 0,
  priorityWeight: 1,
  weightRule: "downstream",
  doXcomPush: true,
  returnsDagResult: false,
  callbacks: [],
};

const DAG: Omit<DagSpec, "tasks"> = {
  dagId: "dag",
  schedule: { kind: "delta", seconds: INTERVAL_SECONDS },
  catchup: true,
  tags: [],
  owners: [],
  failFast: false,
  renderTemplateAsNativeObj: false,
  disableBundleVersioning: false,
  params: {},
  callbacks: [],
  groups: [],
};
