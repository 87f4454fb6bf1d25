import { expect, test } from "vitest";
import { ACTIVE_RUN_STATES, RUN_EDGES, RUN_STATES, RUN_TRANSITIONS, type RunState } from "./run-state.ts";

const reachableFrom = (start: RunState): ReadonlySet<RunState> => {
  const seen = new Set<RunState>([start]);
  for (const state of seen) for (const t of RUN_TRANSITIONS) if (t.from === state) seen.add(t.to);
  return seen;
};

const isActive = (state: RunState): boolean => (ACTIVE_RUN_STATES as readonly string[]).includes(state);

test("every state of a run can be reached from every other: a run can be cleared and ends again", () => {
  for (const state of RUN_STATES) expect([...reachableFrom(state)].sort()).toEqual([...RUN_STATES].sort());
});

test("a run that has ended is moved by a user alone", () => {
  expect(RUN_TRANSITIONS.filter((t) => !isActive(t.from) && t.actor !== "user")).toEqual([]);
});

test("nobody starts a run but the scheduler, which counts them, and only from queued", () => {
  expect(RUN_TRANSITIONS.filter((t) => t.to === "running")).toMatchObject([{ from: "queued", actor: "scheduler" }]);
});

test("each change of a run is in the table once", () => {
  expect(RUN_EDGES.size).toBe(RUN_TRANSITIONS.length);
  for (const { from, to } of RUN_TRANSITIONS) expect(from).not.toBe(to);
});
