// What the scheduler and the workers of a simulation have in common: the rows, the clock, and the settings.
import type { DagSpec } from "../../spec/index.ts";
import type { Agenda } from "../engine/agenda.ts";
import type { DagRow } from "../engine/rows.ts";
import type { SchedulerDeps } from "../engine/scheduling-pass.ts";
import { runThrough, type Steps } from "../engine/steps.ts";
import type { Store } from "../engine/store.ts";
import type { Transaction } from "../engine/transaction.ts";
import type { CheckedOptions } from "./options.ts";
import type { Recorder } from "./recorder.ts";

export class SimulatedWorld {
  readonly spec: DagSpec;
  readonly options: CheckedOptions;
  readonly agenda: Agenda;
  readonly store: Store;
  readonly recorder: Recorder;
  readonly dag: DagRow;
  readonly deps: SchedulerDeps;

  constructor(parts: Omit<SimulatedWorld, "transaction">) {
    this.spec = parts.spec;
    this.options = parts.options;
    this.agenda = parts.agenda;
    this.store = parts.store;
    this.recorder = parts.recorder;
    this.dag = parts.dag;
    this.deps = parts.deps;
  }

  transaction<T>(owner: string, steps: (tx: Transaction) => Steps<T>): T {
    const tx = this.store.begin(owner);
    const result = runThrough(steps(tx));
    tx.commit();
    return result;
  }
}
