// What people give to `simulate`, and its checks: whatever is wrong is said before anything runs.
import type { PlanAnswer, PlanRequest } from "../../runtime/protocol.ts";
import type { DagSpec } from "../../spec/index.ts";
import { AppError } from "@millrace/shared/errors";
import { summarizeSchedule } from "@millrace/shared/model";

/** What a simulated try of a task can end as. */
export type SimulatedState = "success" | "failed" | "skipped";

export interface SimulatedOutcome {
  /** @default "success" */
  readonly state?: SimulatedState;
  /** Virtual seconds from its start to its end. @default 1 */
  readonly duration?: number;
  /**
   * For a task that branches: the ids directly downstream that go on, the others are skipped. For a short circuit: an
   * empty list cuts the DAG short.
   * @default everything goes on
   */
  readonly follow?: readonly string[];
  /** For `failed`: whether trying again can help. @default true */
  readonly retryable?: boolean;
  /**
   * That it waits without a worker: for its trigger, for the next poke of a sensor, for an answer. A number is seconds of a
   * deferral that ends with an event.
   * @default none; a task that begins with its trigger waits as long as a trigger of time says, and else a minute; a
   * question (`hitl`, `approval`) is answered after a minute
   */
  readonly wait?: number | SimulatedWait;
}

export interface SimulatedWait {
  /** Virtual seconds until it has what it waits for. */
  readonly seconds: number;
  /**
   * `deferred`: it runs for `duration`, waits for its trigger, and runs for `duration` once more with the event; one that
   * begins or ends with its trigger leaves that half out. `reschedule`: it pokes for `duration`, and again after each
   * `pokeInterval`, until the time is over.
   * @default "deferred"
   */
  readonly mode?: "deferred" | "reschedule";
  /** For `reschedule`: seconds between two pokes. @default 60 */
  readonly pokeInterval?: number;
  /**
   * `timeout`: what it waits for does not come, and the try fails. For a question with defaults, which a timeout chooses,
   * say `event`.
   * @default "event"
   */
  readonly end?: "event" | "timeout";
}

/** What a function that decides an outcome is told. */
export interface SimulatedAttempt {
  readonly dagId: string;
  readonly taskId: string;
  readonly runId: string;
  readonly logicalDate: Date | null;
  readonly dataIntervalStart: Date | null;
  readonly dataIntervalEnd: Date | null;
  /** 1 for the first. */
  readonly tryNumber: number;
  /** The virtual time at which it starts. */
  readonly now: Date;
  /** In [0, 1): drawn from the seed. */
  readonly random: () => number;
}

/**
 * How tries of a task end: always in one state, with a probability (`{ failed: 0.1 }`, the rest succeeds), as given in
 * full, or as a function of the try says.
 */
export type OutcomeRule =
  | SimulatedState
  | SimulatedOutcome
  | (Partial<Record<"failed" | "skipped", number>> & { readonly duration?: number })
  | ((attempt: SimulatedAttempt) => SimulatedState | SimulatedOutcome);

/** What goes wrong around the tasks, and when. */
export type SimulatedFault =
  /** Every task that runs at that moment loses its worker, of which the scheduler learns a lease (30 s) later. */
  | { readonly kind: "worker-lost"; readonly at: Date | string }
  /** No scheduler decides anything; what runs goes on. */
  | { readonly kind: "scheduler-outage"; readonly from: Date | string; readonly until: Date | string }
  /** Workers are late: what is queued in that time starts this many seconds later. */
  | {
      readonly kind: "delayed-start";
      readonly from: Date | string;
      readonly until: Date | string;
      readonly seconds: number;
    };

export interface SimulateOptions {
  /** The virtual clock starts here; the DAG is unpaused at this moment. Strings are ISO 8601. */
  readonly from: Date | string;
  /** No run is created from here on; those that exist go on to their end. */
  readonly until: Date | string;
  /** By task id; `*` for all others. */
  readonly outcomes?: Readonly<Record<string, OutcomeRule>>;
  readonly faults?: readonly SimulatedFault[];
  /** Moments at which somebody triggers a run by hand. */
  readonly triggers?: readonly (Date | string)[];
  /** Of everything that is drawn. @default 1 */
  readonly seed?: number;
  /** Told now and then how far it is, for what people look at meanwhile. */
  readonly onProgress?: (progress: { readonly now: Date; readonly runs: number }) => void;
  /** Asks a timetable of the DAG's file, where only the spec of the DAG is given: that of its artifact. */
  readonly planRuns?: (request: PlanRequest) => PlanAnswer;
  /** The limits of the installation. */
  readonly limits?: {
    /** Task instances queued or running at once. @default 32 */
    readonly parallelism?: number;
    /** Slots by pool; -1 for no limit. Pools that the DAG names and that are not given have 128. */
    readonly pools?: Readonly<Record<string, number>>;
    /** For a DAG that does not say it itself. @default 16 */
    readonly maxActiveRuns?: number;
    /** For a DAG that does not say it itself. @default 16 */
    readonly maxActiveTasks?: number;
    /** Tasks that all workers run at once. @default no limit */
    readonly workerSlots?: number;
  };
}

export interface CheckedFaults {
  readonly losses: readonly number[];
  readonly outages: readonly { readonly from: number; readonly until: number }[];
  readonly delays: readonly { readonly from: number; readonly until: number; readonly ms: number }[];
}

export interface CheckedOptions {
  readonly from: number;
  readonly until: number;
  readonly triggers: readonly number[];
  readonly faults: CheckedFaults;
}

/** @throws AppError SIMULATION_INVALID with everything that is wrong. */
export function checkOptions(spec: DagSpec, options: SimulateOptions): CheckedOptions {
  const problems: string[] = [];
  const instant = (name: string, given: Date | string): number => {
    const at = given instanceof Date ? given.getTime() : Date.parse(given);
    if (Number.isNaN(at)) problems.push(`${name} is not a date: ${String(given)}`);
    return at;
  };
  const from = instant("from", options.from);
  const until = instant("until", options.until);
  if (until <= from) problems.push(`until (${iso(until)}) is not after from (${iso(from)})`);
  const triggers = (options.triggers ?? []).map((at, i) => instant(`triggers[${i}]`, at));
  for (const at of triggers) {
    if (at < from || at >= until) problems.push(`the trigger at ${iso(at)} is not between from and until`);
  }
  checkOutcomes(spec, options.outcomes ?? {}, problems);
  const faults = checkFaults(options.faults ?? [], instant, problems);
  if (problems.length === 0) return { from, until, triggers, faults };
  throw invalid(spec, problems);
}

export const invalid = (spec: DagSpec, problems: readonly string[]): AppError =>
  new AppError("SIMULATION_INVALID", {
    dagId: spec.dagId,
    schedule: summarizeSchedule(spec.schedule),
    problems: problems.map((problem) => `  - ${problem}`).join("\n"),
  });

function checkOutcomes(spec: DagSpec, outcomes: Readonly<Record<string, OutcomeRule>>, problems: string[]): void {
  const tasks = new Map(spec.tasks.map((task) => [task.taskId, task]));
  for (const [id, rule] of Object.entries(outcomes)) {
    if (id !== "*" && !tasks.has(id)) problems.push(`outcomes: ${noTask(id, [...tasks.keys()])}`);
    if (typeof rule !== "object") {
      if (typeof rule === "string" && !isState(rule))
        problems.push(`outcomes of ${id}: ${String(rule)} is no state of a try`);
      continue;
    }
    const { state, duration, follow, failed, skipped, wait } = rule as SimulatedOutcome & {
      failed?: number;
      skipped?: number;
    };
    if (state !== undefined && !isState(state))
      problems.push(`outcomes of ${id}: ${String(state)} is no state of a try`);
    if (duration !== undefined && !(duration >= 0 && duration < Infinity)) {
      problems.push(`outcomes of ${id}: a duration of ${duration} s is not possible`);
    }
    checkWait(id, wait, problems);
    for (const chance of [failed, skipped]) {
      if (chance !== undefined && !(chance >= 0 && chance <= 1)) {
        problems.push(`outcomes of ${id}: ${chance} is no probability from 0 to 1`);
      }
    }
    if ((failed ?? 0) + (skipped ?? 0) > 1) problems.push(`outcomes of ${id}: the probabilities are more than 1`);
    for (const next of follow ?? []) {
      if (!spec.tasks.some((task) => task.taskId === next && task.upstream.includes(id))) {
        problems.push(`outcomes of ${id}: ${next} is not directly downstream of it`);
      }
    }
  }
}

function checkWait(id: string, wait: SimulatedOutcome["wait"], problems: string[]): void {
  if (wait === undefined) return;
  const { seconds, mode = "deferred", pokeInterval = 60, end = "event" } = waitOf(wait);
  if (!(seconds >= 0 && seconds < Infinity)) problems.push(`outcomes of ${id}: a wait of ${seconds} s is not possible`);
  if (!(pokeInterval > 0 && pokeInterval < Infinity)) {
    problems.push(`outcomes of ${id}: a pokeInterval of ${pokeInterval} s is not possible`);
  }
  if (mode !== "deferred" && mode !== "reschedule")
    problems.push(`outcomes of ${id}: ${String(mode)} is no mode of a wait`);
  if (end !== "event" && end !== "timeout") problems.push(`outcomes of ${id}: ${String(end)} is no end of a wait`);
}

export const waitOf = (wait: number | SimulatedWait): SimulatedWait =>
  typeof wait === "number" ? { seconds: wait } : wait;

const noTask = (id: string, known: readonly string[]): string =>
  `there is no task ${id}; there ${known.length === 1 ? "is" : "are"} ${known.slice(0, 10).join(", ")}${known.length > 10 ? ", …" : ""}`;

export const isState = (given: string): given is SimulatedState =>
  given === "success" || given === "failed" || given === "skipped";

function checkFaults(
  faults: readonly SimulatedFault[],
  instant: (name: string, given: Date | string) => number,
  problems: string[],
): CheckedFaults {
  const losses: number[] = [];
  const outages: { from: number; until: number }[] = [];
  const delays: { from: number; until: number; ms: number }[] = [];
  faults.forEach((fault, i) => {
    const name = `faults[${i}]`;
    if (fault.kind === "worker-lost") {
      losses.push(instant(`${name}.at`, fault.at));
      return;
    }
    const [from, until] = [instant(`${name}.from`, fault.from), instant(`${name}.until`, fault.until)];
    if (until <= from) problems.push(`${name}: until (${iso(until)}) is not after from (${iso(from)})`);
    if (fault.kind === "scheduler-outage") outages.push({ from, until });
    else if (fault.seconds >= 0) delays.push({ from, until, ms: fault.seconds * 1000 });
    else problems.push(`${name}: a delay of ${fault.seconds} s is not possible`);
  });
  return { losses, outages, delays };
}

const iso = (at: number): string => (Number.isNaN(at) ? "no date" : new Date(at).toISOString());
