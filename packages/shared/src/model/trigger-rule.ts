// Airflow's thirteen trigger rules. Early verdicts included: all_success does not wait for the rest once one failed.
import type { TriggerRule } from "@millrace/sdk/spec";
import type { TaskState } from "./task-state.ts";

/** Upstream task instances by state; only finished ones are told apart. */
export interface UpstreamCounts {
  /** Expected upstream task instances, finished or not. */
  readonly total: number;
  readonly success: number;
  readonly failed: number;
  readonly upstreamFailed: number;
  readonly skipped: number;
  readonly removed: number;
  readonly setups: number;
  readonly setupsSucceeded: number;
  readonly setupsSkipped: number;
}

export type RuleVerdict = "pass" | "wait" | "skipped" | "upstream_failed" | "removed";

export interface RuleContext {
  /** The index of a mapped task instance; -1 for one that is not mapped. */
  readonly mapIndex: number;
}

type Rule = (c: UpstreamCounts, done: boolean, context: RuleContext) => RuleVerdict;

const passIf = (condition: boolean): RuleVerdict => (condition ? "pass" : "wait");
const anyFailed = (c: UpstreamCounts) => c.failed > 0 || c.upstreamFailed > 0;
// Removed upstreams are left out of what a mapped task instance waits for, never of what another one does.
const discount = (c: UpstreamCounts, { mapIndex }: RuleContext) => (mapIndex >= 0 ? c.removed : 0);

const RULES: Readonly<Record<TriggerRule, Rule>> = {
  all_success: (c, _done, context) => {
    if (anyFailed(c)) return "upstream_failed";
    if (c.skipped > 0) return "skipped";
    if (context.mapIndex >= 0 && c.removed > 0 && c.success > 0 && context.mapIndex >= c.success) return "removed";
    return passIf(c.total - c.success - discount(c, context) <= 0);
  },
  all_failed: (c, _done, context) => {
    if (c.success > 0 || c.skipped > 0) return "skipped";
    return passIf(c.total - c.failed - c.upstreamFailed - discount(c, context) <= 0);
  },
  all_done: (_c, done) => passIf(done),
  all_skipped: (c) => {
    if (c.success > 0 || anyFailed(c)) return "skipped";
    return passIf(c.total - c.skipped <= 0);
  },
  one_success: (c, done) => {
    if (c.success > 0) return "pass";
    if (!done) return "wait";
    return finished(c) === c.skipped ? "skipped" : "upstream_failed";
  },
  one_failed: (c, done) => {
    if (anyFailed(c)) return "pass";
    return done ? "skipped" : "wait";
  },
  one_done: (c, done) => {
    if (c.success + c.failed > 0) return "pass";
    return done ? "skipped" : "wait";
  },
  none_failed: (c, _done, context) => {
    if (anyFailed(c)) return "upstream_failed";
    return passIf(c.total - c.success - c.skipped - discount(c, context) <= 0);
  },
  none_failed_min_one_success: (c, _done, context) => {
    if (anyFailed(c)) return "upstream_failed";
    if (c.skipped === c.total) return "skipped";
    return passIf(c.total - c.success - c.skipped - discount(c, context) <= 0);
  },
  none_skipped: (c, done) => (c.skipped > 0 ? "skipped" : passIf(done)),
  always: () => "pass",
  all_done_setup_success: (c, done) => {
    if (!done) return "wait";
    if (c.setups === 0 || c.setupsSucceeded > 0) return "pass";
    return c.setupsSkipped >= c.setups ? "skipped" : "upstream_failed";
  },
  all_done_min_one_success: (c, _done, context) => {
    if (c.skipped > 0) return "skipped";
    const ended = c.success + c.failed + c.upstreamFailed + c.removed;
    if (ended < c.total - c.skipped) return "wait";
    if (c.success === 0) return "upstream_failed";
    return passIf(ended - discount(c, context) >= c.total - discount(c, context));
  },
};

const finished = (c: UpstreamCounts): number => c.success + c.failed + c.upstreamFailed + c.skipped + c.removed;

export function judgeTriggerRule(rule: TriggerRule, counts: UpstreamCounts, context: RuleContext): RuleVerdict {
  if (counts.total === 0 || rule === "always") return "pass";
  return RULES[rule](counts, finished(counts) >= counts.total, context);
}

/** For `addTally`. */
export type UpstreamTally = { -readonly [K in keyof UpstreamCounts]: UpstreamCounts[K] };

/** How many instances of one task are in which state. */
export interface StateTally {
  readonly total: number;
  readonly by: Readonly<Partial<Record<TaskState, number>>>;
}

export const noUpstream = (): UpstreamTally => ({
  total: 0,
  success: 0,
  failed: 0,
  upstreamFailed: 0,
  skipped: 0,
  removed: 0,
  setups: 0,
  setupsSucceeded: 0,
  setupsSkipped: 0,
});

export function addTally(counts: UpstreamTally, { total, by }: StateTally, isSetup: boolean): void {
  counts.total += total;
  counts.success += by.success ?? 0;
  counts.failed += by.failed ?? 0;
  counts.upstreamFailed += by.upstream_failed ?? 0;
  counts.skipped += by.skipped ?? 0;
  counts.removed += by.removed ?? 0;
  if (!isSetup) return;
  counts.setups += total;
  counts.setupsSucceeded += by.success ?? 0;
  counts.setupsSkipped += by.skipped ?? 0;
}
