// One DAG on a virtual clock: the scheduler's own passes over the in-memory store, whenever something happened, and workers
// whose tries end as the rules say. What takes the product milliseconds takes no time here; what it does by the clock
// (schedules, retries, timeouts, leases) happens at its moment.
import type { DagSpec } from "../../spec/index.ts";
import { buildDagGraph, inferManualInterval, pointerFor, timeOf } from "@millrace/shared/model";
import { Agenda } from "../engine/agenda.ts";
import type { DagRow } from "../engine/rows.ts";
import type { SchedulerDeps } from "../engine/scheduling-pass.ts";
import {
  DEFAULT_MAX_ACTIVE_RUNS,
  DEFAULT_MAX_ACTIVE_TASKS,
  DEFAULT_POOL_SLOTS,
  DEFAULT_SETTINGS,
} from "../engine/settings.ts";
import { statements as s } from "../engine/statements.ts";
import { Store } from "../engine/store.ts";
import { invalid, type CheckedOptions, type SimulateOptions } from "./options.ts";
import { Outcomes } from "./outcomes.ts";
import { PlannedRuns, type AskTimetable } from "./planned-runs.ts";
import { Recorder } from "./recorder.ts";
import { SimulatedScheduler } from "./simulated-scheduler.ts";
import { SimulatedWorkers } from "./simulated-workers.ts";
import { SimulatedWorld } from "./simulated-world.ts";

/** Beyond this something runs away, as a continuous schedule of tasks that take no time does. */
const MAX_RUNS = 250_000;
const STEPS_BETWEEN_REPORTS = 2_000;

export class Simulation {
  readonly #world: SimulatedWorld;
  readonly #scheduler: SimulatedScheduler;
  readonly #workers: SimulatedWorkers;
  readonly #onProgress: SimulateOptions["onProgress"];

  /** @param planRuns for a schedule that is code of the DAG's file */
  constructor(spec: DagSpec, options: SimulateOptions, checked: CheckedOptions, planRuns?: AskTimetable) {
    const { limits = {}, outcomes = {}, seed = 1 } = options;
    this.#onProgress = options.onProgress;
    const agenda = new Agenda(checked.from);
    const pools = new Map(spec.tasks.map((task) => [task.pool, DEFAULT_POOL_SLOTS]));
    for (const [pool, slots] of Object.entries(limits.pools ?? {})) pools.set(pool, slots);
    const store = new Store(agenda, pools);
    const recorder = new Recorder(() => agenda.now);
    store.watch = recorder;
    const isCustom = timeOf(spec.schedule).kind === "custom";
    if (isCustom && planRuns === undefined && checked.triggers.length === 0) {
      throw invalid(spec, ["its schedule is code of its file: give simulate() the DAG itself, or triggers"]);
    }
    const planned = isCustom && planRuns !== undefined ? new PlannedRuns(planRuns, spec, checked.from) : undefined;
    const pointer = isCustom ? planned?.ahead()[0] : pointerFor(spec, undefined, checked.from);
    if (pointer === undefined && checked.triggers.length === 0) {
      throw invalid(spec, ["time alone asks for no run of it, so nothing would happen: give triggers"]);
    }
    const dag = store.addDag(buildDagGraph(unmapped(spec)), pointer, {
      maxActiveRuns: spec.maxActiveRuns ?? limits.maxActiveRuns ?? DEFAULT_MAX_ACTIVE_RUNS,
      maxActiveTasks: spec.maxActiveTasks ?? limits.maxActiveTasks ?? DEFAULT_MAX_ACTIVE_TASKS,
    });
    const deps: SchedulerDeps = {
      s,
      settings: { ...DEFAULT_SETTINGS, parallelism: limits.parallelism ?? DEFAULT_SETTINGS.parallelism },
      onRefused: (row, refusal) => recorder.refused(row, refusal),
      onBlocked: (run) => recorder.blocked(run),
      planned: () => planned?.ahead(dag.committed.pointer?.logicalDate) ?? [],
    };
    this.#world = new SimulatedWorld({ spec, options: checked, agenda, store, recorder, dag, deps });
    this.#workers = new SimulatedWorkers(this.#world, new Outcomes(outcomes, seed), limits.workerSlots ?? Infinity, {
      wake: (row) => this.#scheduler.wake(row),
      whenDecided: (at) => this.#scheduler.whenDecided(at),
    });
    this.#scheduler = new SimulatedScheduler(this.#world, this.#workers);
  }

  get store(): Store {
    return this.#world.store;
  }

  get recorder(): Recorder {
    return this.#world.recorder;
  }

  get dag(): DagRow {
    return this.#world.dag;
  }

  /** When the DAG was paused because its newest runs had failed. */
  get pausedAt(): number | undefined {
    return this.#scheduler.pausedAt;
  }

  run(): void {
    const { agenda, store, spec, options } = this.#world;
    options.triggers.forEach((at, i) => agenda.at(at, () => this.#trigger(at, i)));
    for (const at of options.faults.losses) agenda.at(at, () => this.#workers.loseWorker());
    this.#scheduler.requestPass();
    for (let steps = 1; agenda.step(); steps++) {
      if (steps % STEPS_BETWEEN_REPORTS === 0)
        this.#onProgress?.({ now: new Date(agenda.now), runs: store.runs.length });
      if (store.runs.length <= MAX_RUNS) continue;
      throw invalid(spec, [
        `it has had ${MAX_RUNS} runs by ${new Date(agenda.now).toISOString()}: give a shorter time, or tasks longer durations`,
      ]);
    }
  }

  #trigger(at: number, index: number): void {
    const { spec, dag } = this.#world;
    const runId = `manual__${new Date(at).toISOString()}_${index}`;
    const plan = { logicalDate: at, interval: inferManualInterval(spec.schedule, at), runAfter: at };
    this.#world.transaction("user", (tx) => s.insertRuns(tx, dag, [{ runId, runType: "manual", plan }]));
    this.#scheduler.runCreated();
  }
}

/** No handler runs here, so that nobody knows how long a list is: a mapped task has one instance. */
const unmapped = (spec: DagSpec): DagSpec => ({
  ...spec,
  groups: spec.groups.map(({ mapping: _mapping, ...group }) => group),
  tasks: spec.tasks.map(({ mapping: _mapping, mapGroupId: _group, ...task }) => task),
});
