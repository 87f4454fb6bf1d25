import type { TriggerEnd } from "@millrace/sdk/runtime";
import type { TaskSpec } from "@millrace/sdk/spec";
import { expect, test } from "vitest";
import { decideEnd } from "./decide-end.ts";

// Only what the decision reads.
const task = { doXcomPush: true, retryDelay: 30, retryExponentialBackoff: 0 } as TaskSpec;
const attempt = { dagId: "d", runId: "r", taskId: "t", tryNumber: 1, maxTries: 1 };
const end = (given: Omit<TriggerEnd, "kind">): TriggerEnd => ({ kind: "end", ...given });

test("a success hands its value on, unless the task hands on nothing", () => {
  const success = end({ state: "success", value: 1 });
  expect(decideEnd(success, task, attempt, 100)).toEqual({ kind: "final", state: "success", value: 1, reason: null });
  expect(decideEnd(success, { ...task, doXcomPush: false }, attempt, 100)).toMatchObject({ value: undefined });
});

test("a skip has no value, and its message is the reason", () => {
  expect(decideEnd(end({ state: "skipped", value: 1, message: "holiday" }), task, attempt, 100)).toEqual({
    kind: "final",
    state: "skipped",
    value: undefined,
    reason: "holiday",
  });
});

test.each([
  ["is tried again after its delay", {}, 1, { kind: "retry", delaySeconds: 30, reason: "gone" }],
  ["is final when nothing is left", {}, 2, { kind: "final", state: "failed", reason: "gone" }],
  ["is final when it says so", { retryable: false }, 1, { kind: "final", state: "failed", reason: "gone" }],
])("a failure %s", (_, given, tryNumber, expected) => {
  const failed = end({ state: "failed", message: "gone", ...given });
  expect(decideEnd(failed, task, { ...attempt, tryNumber }, 100)).toMatchObject(expected);
});
