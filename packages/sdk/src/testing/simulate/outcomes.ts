// How a simulated try ends. What is drawn is drawn from the seed and the try's own name, so that one rule more or less
// changes nothing of what the others draw.
import type { BranchDecision } from "../../runtime/protocol.ts";
import { jitterOf } from "@millrace/shared/model";
import { randomOf } from "../engine/random.ts";
import type { TaskRow, TaskVersion } from "../engine/rows.ts";
import type { OutcomeRule, SimulatedAttempt, SimulatedOutcome, SimulatedState } from "./options.ts";

const DEFAULT_SECONDS = 1;

export interface DrawnOutcome {
  readonly state: SimulatedState;
  readonly seconds: number;
  readonly retryable: boolean;
  readonly branchDecision: BranchDecision | null;
  readonly reason: string | undefined;
}

export class Outcomes {
  readonly #rules: Readonly<Record<string, OutcomeRule>>;
  readonly #seed: number;

  constructor(rules: Readonly<Record<string, OutcomeRule>>, seed: number) {
    this.#rules = rules;
    this.#seed = seed;
  }

  draw(row: TaskRow, version: TaskVersion, now: number): DrawnOutcome {
    const { state = "success", duration = DEFAULT_SECONDS, retryable = true, follow } = this.#ask(row, version, now);
    const { executionTimeout } = row.node.spec;
    if (executionTimeout !== undefined && duration > executionTimeout) {
      const reason = `it took longer than its executionTimeout of ${executionTimeout} s`;
      return { state: "failed", seconds: executionTimeout, retryable: true, branchDecision: null, reason };
    }
    const branchDecision = state === "success" ? decisionOf(row, follow) : null;
    const reason = state === "failed" ? "it fails in this simulation" : undefined;
    return { state, seconds: duration, retryable, branchDecision, reason };
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
