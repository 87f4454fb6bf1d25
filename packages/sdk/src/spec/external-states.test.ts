import { expect, test } from "vitest";
import { judgeExternalStates, type ExternalStatesKwargs, type ExternalState } from "./external-states.ts";

const ONE = "2026-01-01T00:00:00.000Z";
const TWO = "2026-01-02T00:00:00.000Z";

const asked = (changes: Partial<ExternalStatesKwargs> = {}): ExternalStatesKwargs => ({
  dagId: "other",
  logicalDates: [ONE],
  allowedStates: ["success"],
  failedStates: ["failed"],
  skippedStates: ["skipped"],
  checkExistence: false,
  pollSeconds: 60,
  ...changes,
});

const found = (state: string, changes: Partial<ExternalState> = {}): ExternalState => ({
  runId: "r1",
  taskId: null,
  mapIndex: -1,
  state,
  ...changes,
});

test("nothing there yet, or something unfinished, is waited for", () => {
  expect(judgeExternalStates(asked(), [])).toBe("wait");
  expect(judgeExternalStates(asked(), [found("running")])).toBe("wait");
  expect(judgeExternalStates(asked(), [found("success")])).toBe("allowed");
});

test("every task of every date has to be there and allowed", () => {
  const tasks = asked({ taskIds: ["a", "b"], logicalDates: [ONE, TWO] });
  const first = [found("success", { taskId: "a" }), found("success", { taskId: "b" })];
  const second = first.map((state) => ({ ...state, runId: "r2" }));
  expect(judgeExternalStates(tasks, first)).toBe("wait");
  expect(judgeExternalStates(tasks, [...first, ...second.slice(1)])).toBe("wait");
  expect(judgeExternalStates(tasks, [...first, ...second])).toBe("allowed");
  expect(judgeExternalStates(asked({ logicalDates: [], runIds: ["r1", "r2"] }), [found("success")])).toBe("wait");
});

test("two runs of one date do not stand for two dates", () => {
  const both = asked({ logicalDates: [ONE, TWO] });
  const run = (runId: string, logicalDate: string) => found("success", { runId, logicalDate });
  expect(judgeExternalStates(both, [run("r1", ONE), run("r2", ONE)])).toBe("wait");
  expect(judgeExternalStates(both, [run("r1", ONE), run("r2", "2026-01-02T01:00:00+01:00")])).toBe("allowed");
});

test("one failed thing fails, before one that was skipped skips, before anything is waited for", () => {
  const states = [found("running", { taskId: "a" }), found("skipped", { taskId: "b" })];
  expect(judgeExternalStates(asked(), states)).toBe("skipped");
  expect(judgeExternalStates(asked(), [...states, found("failed", { taskId: "c" })])).toBe("failed");
});

test("all instances of a mapped task count, removed ones do not", () => {
  const mapped = asked({ taskIds: ["m"] });
  const instance = (mapIndex: number, state: string) => found(state, { taskId: "m", mapIndex });
  expect(judgeExternalStates(mapped, [instance(0, "success"), instance(1, "running")])).toBe("wait");
  expect(judgeExternalStates(mapped, [instance(0, "success"), instance(1, "removed")])).toBe("allowed");
  expect(judgeExternalStates(mapped, [instance(0, "removed")])).toBe("wait");
});
