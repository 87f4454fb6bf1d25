// How a simulated try ends. What is drawn is drawn from the seed and the try's own name, so that one rule more or less
// changes nothing of what the others draw.
import type { BranchDecision } from "../../runtime/protocol.ts";
import { jitterOf } from "@millrace/shared/model";
import { randomOf } from "../engine/random.ts";
import type { TaskRow, TaskVersion } from "../engine/rows.ts";
import type { StartTriggerSpec } from "../../spec/index.ts";
import {
  waitOf,
  type OutcomeRule,
  type SimulatedAttempt,
  type SimulatedOutcome,
  type SimulatedState,
} from "./options.ts";

const DEFAULT_SECONDS = 1;
const DEFAULT_WAIT_SECONDS = 60;

export interface DrawnOutcome {
  readonly state: SimulatedState;
  readonly seconds: number;
  readonly retryable: boolean;
  readonly branchDecision: BranchDecision | null;
  readonly reason: string | undefined;
  readonly wait: DrawnWait | undefined;
}

export interface DrawnWait {
  readonly seconds: number;
  readonly mode: "deferred" | "reschedule";
  readonly pokeInterval: number;
  /** What it waits for does not come. */
  readonly timedOut: boolean;
}

export class Outcomes {
  readonly #rules: Readonly<Record<string, OutcomeRule>>;
  readonly #seed: number;

  constructor(rules: Readonly<Record<string, OutcomeRule>>, seed: number) {
    this.#rules = rules;
    this.#seed = seed;
  }

  draw(row: TaskRow, version: TaskVersion, now: number): DrawnOutcome {
    const asked = this.#ask(row, version, now);
    const { state = "success", duration = DEFAULT_SECONDS, retryable = true, follow } = asked;
    const wait = waitFor(row, asked.wait, now);
    const { executionTimeout } = row.node.spec;
    if (executionTimeout !== undefined && duration > executionTimeout) {
      const reason = `it took longer than its executionTimeout of ${executionTimeout} s`;
      return {
        state: "failed",
        seconds: executionTimeout,
        retryable: true,
        branchDecision: null,
        reason,
        wait: undefined,
      };
    }
    if (wait?.timedOut === true) {
      const reason = `it had not what it waits for within ${wait.seconds} s`;
      return { state: "failed", seconds: duration, retryable, branchDecision: null, reason, wait };
    }
    const branchDecision = state === "success" ? decisionOf(row, follow) : null;
    const reason = state === "failed" ? "it fails in this simulation" : undefined;
    return { state, seconds: duration, retryable, branchDecision, reason, wait };
  }

  #ask(row: TaskRow, version: TaskVersion, now: number): SimulatedOutcome {
    const rule = Object.hasOwn(this.#rules, row.taskId) ? this.#rules[row.taskId] : this.#rules["*"];
    if (rule === undefined) return {};
    if (typeof rule === "string") return { state: rule };
    if (typeof rule === "object" && !("failed" in rule) && !("skipped" in rule)) return rule;
    const key = `${row.run.runId}#${row.taskId}#${row.mapIndex}#${version.tryNumber}#${version.infraFailures}`;
    const random = randomOf(this.#seed ^ Math.floor(jitterOf(key) * 2 ** 32));
    if (typeof rule === "function") {
      const given = rule(attemptOf(row, version, now, () => random.next()));
      return typeof given === "string" ? { state: given } : given;
    }
    const { failed = 0, skipped = 0, duration } = rule;
    const draw = random.next();
    const state = draw < failed ? "failed" : draw < failed + skipped ? "skipped" : "success";
    return { state, ...(duration === undefined ? {} : { duration }) };
  }
}

/** Questions, whose trigger a worker makes. */
const QUESTIONS: ReadonlySet<string> = new Set(["hitl", "approval"]);

function waitFor({ node }: TaskRow, given: SimulatedOutcome["wait"], now: number): DrawnWait | undefined {
  const { startTrigger, operator } = node.spec;
  const byItself =
    startTrigger !== undefined
      ? secondsOf(startTrigger.trigger, now)
      : QUESTIONS.has(operator)
        ? DEFAULT_WAIT_SECONDS
        : undefined;
  if (given === undefined && byItself === undefined) return undefined;
  const { seconds, mode, pokeInterval = 60, end } = waitOf(given ?? byItself ?? 0);
  const limit = startTrigger?.timeoutSeconds ?? Infinity;
  return {
    seconds: Math.min(seconds, limit),
    // What begins with its trigger waits for that.
    mode: startTrigger === undefined ? (mode ?? "deferred") : "deferred",
    pokeInterval,
    timedOut: end === "timeout" || seconds > limit,
  };
}

/** Triggers of time say how long they take; of the others nobody knows. */
function secondsOf({ name, kwargs }: StartTriggerSpec["trigger"], now: number): number {
  if (name !== "millrace.time") return DEFAULT_WAIT_SECONDS;
  const { at, afterSeconds } = kwargs;
  return typeof at === "string" ? Math.max(0, (Date.parse(at) - now) / 1000) : Number(afterSeconds);
}

function decisionOf({ node }: TaskRow, follow: readonly string[] | undefined): BranchDecision | null {
  if (follow === undefined || node.spec.branch === undefined) return null;
  const cutsAll = node.spec.branch === "short_circuit" && node.spec.ignoreDownstreamTriggerRules !== false;
  return cutsAll && follow.length === 0 ? { kind: "skip_all" } : { kind: "follow", taskIds: follow };
}

function attemptOf(row: TaskRow, version: TaskVersion, now: number, random: () => number): SimulatedAttempt {
  const { run } = row;
  return {
    dagId: run.dag.dagId,
    taskId: row.taskId,
    runId: run.runId,
    logicalDate: run.logicalDate === null ? null : new Date(run.logicalDate),
    dataIntervalStart: run.interval === null ? null : new Date(run.interval.start),
    dataIntervalEnd: run.interval === null ? null : new Date(run.interval.end),
    tryNumber: version.tryNumber,
    now: new Date(now),
    random,
  };
}
