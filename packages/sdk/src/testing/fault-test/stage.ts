// What all who act in one history work with, and the times they keep. Milliseconds, unless a name says seconds.
import type { Agenda } from "../engine/agenda.ts";
import type { Random } from "../engine/random.ts";
import type { SchedulerDeps } from "../engine/scheduling-pass.ts";
import { DEFAULT_SETTINGS } from "../engine/settings.ts";
import type { Store } from "../engine/store.ts";
import { Aborted, AnswerLost, Process, type Driver } from "./fibers.ts";
import type { Invariants } from "./invariants.ts";

/** From here on nothing goes wrong any more, and everything has to come to its end. */
export const HEALED = 40_000;
export const TICK = 4_000;
export const HEARTBEAT = 3_000;
/** Before what failed is tried again. */
export const PAUSE = 500;
export const REDISPATCH_SECONDS = 8;
export const SETTINGS = { ...DEFAULT_SETTINGS, parallelism: 3, sweepInterval: 8, lease: 10 };

export interface Stage {
  readonly random: Random;
  readonly agenda: Agenda;
  readonly store: Store;
  readonly driver: Driver;
  readonly invariants: Invariants;
  readonly deps: SchedulerDeps;
  readonly trace: string[] | undefined;
}

/** What a worker knows of an attempt that it has. */
export interface Held {
  readonly epoch: number;
  fate: "lives" | "lost" | "asked";
}

export class Worker extends Process {
  readonly job: number;
  readonly held = new Map<number, Held>();

  constructor(job: number) {
    super(`worker ${job}`);
    this.job = job;
  }
}

/** What the real actors are prepared for; everything else ends the test. */
export function allow(error: unknown): void {
  if (!(error instanceof Aborted) && !(error instanceof AnswerLost)) throw error;
}
