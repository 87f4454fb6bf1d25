import { TRIGGER_RULES, type TriggerRule } from "@millrace/sdk/spec";
import { describe, expect, test } from "vitest";
import { UNFINISHED_TASK_STATES, type TaskState } from "./task-state.ts";
import { addTally, judgeTriggerRule, noUpstream, type RuleVerdict, type UpstreamCounts } from "./trigger-rule.ts";

interface Upstream {
  readonly state: TaskState;
  readonly isSetup: boolean;
}

function countUpstream(upstream: readonly Upstream[]): UpstreamCounts {
  const counts = noUpstream();
  for (const { state, isSetup } of upstream) addTally(counts, { total: 1, by: { [state]: 1 } }, isSetup);
  return counts;
}

const FINISHED = ["success", "failed", "skipped", "upstream_failed", "removed"] as const;
const VECTOR_STATES: readonly TaskState[] = [...FINISHED, "running"];

/** What each rule means in words of "some" and "every", without any counting. */
function reference(rule: TriggerRule, upstream: readonly Upstream[], mapIndex: number): RuleVerdict {
  if (upstream.length === 0) return "pass";
  const is =
    (...states: TaskState[]) =>
    (up: Upstream) =>
      states.includes(up.state);
  const some = (...states: TaskState[]) => upstream.some(is(...states));
  const every = (...states: TaskState[]) => upstream.every(is(...states));
  const none = (...states: TaskState[]) => !some(...states);
  const ended = every(...FINISHED);
  // Only a mapped task instance looks past upstreams that were removed.
  const gone: TaskState[] = mapIndex >= 0 ? ["removed"] : [];
  const go = (condition: boolean): RuleVerdict => (condition ? "pass" : "wait");
  switch (rule) {
    case "all_success": {
      if (some("failed", "upstream_failed")) return "upstream_failed";
      if (some("skipped")) return "skipped";
      const succeeded = upstream.filter(is("success")).length;
      const surplus = mapIndex >= 0 && some("removed") && some("success") && mapIndex >= succeeded;
      return surplus ? "removed" : go(every("success", ...gone));
    }
    case "all_failed":
      return some("success", "skipped") ? "skipped" : go(every("failed", "upstream_failed", ...gone));
    case "all_done":
      return go(ended);
    case "all_skipped":
      return some("success", "failed", "upstream_failed") ? "skipped" : go(every("skipped"));
    case "one_success":
      if (some("success")) return "pass";
      if (!ended) return "wait";
      return every("skipped") ? "skipped" : "upstream_failed";
    case "one_failed":
      if (some("failed", "upstream_failed")) return "pass";
      return ended ? "skipped" : "wait";
    case "one_done":
      if (some("success", "failed")) return "pass";
      return ended ? "skipped" : "wait";
    case "none_failed":
      return some("failed", "upstream_failed") ? "upstream_failed" : go(every("success", "skipped", ...gone));
    case "none_failed_min_one_success":
      if (some("failed", "upstream_failed")) return "upstream_failed";
      return every("skipped") ? "skipped" : go(every("success", "skipped", ...gone));
    case "none_skipped":
      return some("skipped") ? "skipped" : go(ended);
    case "always":
      return "pass";
    case "all_done_setup_success": {
      if (!ended) return "wait";
      const setups = upstream.filter((up) => up.isSetup);
      if (setups.length === 0 || setups.some(is("success"))) return "pass";
      return setups.every(is("skipped")) ? "skipped" : "upstream_failed";
    }
    case "all_done_min_one_success":
      if (some("skipped")) return "skipped";
      if (!ended) return "wait";
      return none("success") ? "upstream_failed" : "pass";
  }
}

/** Every vector of `length` entries. */
function* vectors<T>(of: readonly T[], length: number): Generator<readonly T[]> {
  if (length === 0) return yield [];
  for (const rest of vectors(of, length - 1)) for (const first of of) yield [first, ...rest];
}

describe("trigger rules", () => {
  test.each(TRIGGER_RULES)("%s says of every vector of up to four upstreams what its words say", (rule) => {
    // Which upstreams are setups matters to one rule only; for the others every second one is.
    const entries: readonly Upstream[] =
      rule === "all_done_setup_success"
        ? VECTOR_STATES.flatMap((state) => [
            { state, isSetup: false },
            { state, isSetup: true },
          ])
        : VECTOR_STATES.map((state, i) => ({ state, isSetup: i % 2 === 0 }));
    let seen = 0;
    for (const length of [0, 1, 2, 3, 4]) {
      for (const upstream of vectors(entries, length)) {
        for (const mapIndex of [-1, 0, 1, 2, 4]) {
          const verdict = judgeTriggerRule(rule, countUpstream(upstream), { mapIndex });
          const expected = reference(rule, upstream, mapIndex);
          seen++;
          if (verdict !== expected) {
            const states = upstream.map((up) => `${up.state}${up.isSetup ? " (setup)" : ""}`).join(", ");
            expect.fail(`${rule} of [${states}] at index ${mapIndex} is ${verdict}, not ${expected}`);
          }
        }
      }
    }
    expect(seen).toBe(5 * [0, 1, 2, 3, 4].reduce((sum, n) => sum + entries.length ** n, 0));
  });

  test.each(UNFINISHED_TASK_STATES)("an upstream in %s counts as not ended, whatever the rule", (state) => {
    for (const rule of TRIGGER_RULES) {
      for (const rest of vectors(VECTOR_STATES, 2)) {
        const judge = (unfinished: TaskState) =>
          judgeTriggerRule(rule, countUpstream([...rest, unfinished].map((s) => ({ state: s, isSetup: false }))), {
            mapIndex: -1,
          });
        expect(judge(state)).toBe(judge("running"));
      }
    }
  });

  test("a rule that does not wait for the rest never changes its mind to run once the rest has ended", () => {
    for (const rule of TRIGGER_RULES) {
      for (const upstream of vectors(VECTOR_STATES, 3)) {
        const judge = (states: readonly TaskState[]) =>
          judgeTriggerRule(rule, countUpstream(states.map((state) => ({ state, isSetup: false }))), { mapIndex: -1 });
        const early = judge(upstream);
        if (early === "wait" || early === "pass") continue;
        for (const state of FINISHED) {
          expect(judge(upstream.map((s) => (s === "running" ? state : s)))).not.toBe("pass");
        }
      }
    }
  });
});
