import { describe, expect, test } from "vitest";
import {
  DECIDABLE_TASK_STATES,
  FINISHED_TASK_STATES,
  HELD_TASK_STATES,
  isFinished,
  OCCUPYING_TASK_STATES,
  TASK_EDGES,
  TASK_STATES,
  TASK_TRANSITIONS,
  UNFINISHED_TASK_STATES,
  type TaskState,
} from "./task-state.ts";

const edgesOf = (which: (transition: (typeof TASK_TRANSITIONS)[number]) => boolean): string[] =>
  [...new Set(TASK_TRANSITIONS.filter(which).map((t) => `${t.from}>${t.to}`))].sort();

const reachableFrom = (start: TaskState): ReadonlySet<TaskState> => {
  const seen = new Set<TaskState>([start]);
  for (const state of seen) for (const t of TASK_TRANSITIONS) if (t.from === state) seen.add(t.to);
  return seen;
};

describe("the states of a task instance", () => {
  test("are finished or unfinished, never both", () => {
    expect([...FINISHED_TASK_STATES, ...UNFINISHED_TASK_STATES].sort()).toEqual([...TASK_STATES].sort());
    expect(TASK_STATES.filter(isFinished).sort()).toEqual([...FINISHED_TASK_STATES].sort());
  });

  test("that a worker holds occupy slots, and so does queued; waiting ones and deferred ones occupy none", () => {
    expect(OCCUPYING_TASK_STATES).toEqual(["queued", ...HELD_TASK_STATES]);
    for (const state of [...DECIDABLE_TASK_STATES, ...FINISHED_TASK_STATES]) {
      expect(OCCUPYING_TASK_STATES).not.toContain(state);
    }
  });

  test("can all be reached from none, and from each an end can be reached", () => {
    expect([...reachableFrom("none")].sort()).toEqual([...TASK_STATES].sort());
    for (const state of TASK_STATES) expect([...reachableFrom(state)].some(isFinished)).toBe(true);
  });
});

describe("the transitions of a task instance", () => {
  test("name known states, lead somewhere else, and each actor has an edge once", () => {
    for (const { from, to } of TASK_TRANSITIONS) {
      expect(TASK_STATES).toContain(from);
      expect(TASK_STATES).toContain(to);
      expect(from).not.toBe(to);
    }
    const keys = TASK_TRANSITIONS.map((t) => `${t.actor} ${t.from}>${t.to}`);
    expect(keys.filter((key, i) => keys.indexOf(key) !== i)).toEqual([]);
    expect(new Set(TASK_TRANSITIONS.map((t) => `${t.from}>${t.to}`))).toEqual(TASK_EDGES);
  });

  test("out of a finished state are a user's alone", () => {
    expect(edgesOf((t) => isFinished(t.from) && t.actor !== "user")).toEqual([]);
  });

  test("into running come from queued alone, and into queued from scheduled alone", () => {
    expect(edgesOf((t) => t.to === "running")).toEqual(["queued>running"]);
    expect(edgesOf((t) => t.to === "queued")).toEqual(["scheduled>queued"]);
  });

  test("let a held attempt go only through its worker: a user asks by restarting and shutdown", () => {
    const held: readonly string[] = HELD_TASK_STATES;
    expect(edgesOf((t) => held.includes(t.from) && t.actor === "user")).toEqual([
      "restarting>shutdown",
      "running>restarting",
      "running>shutdown",
      "shutdown>restarting",
    ]);
    expect(edgesOf((t) => t.from === "restarting" && t.actor === "worker")).toEqual(["restarting>none"]);
  });

  test("let the scheduler decide only what nobody has", () => {
    const from = new Set(TASK_TRANSITIONS.filter((t) => t.to === "scheduled").map((t) => t.from));
    expect([...from].sort()).toEqual([...DECIDABLE_TASK_STATES, "deferred"].sort());
  });

  test("let a user clear or mark from every state, directly or through the worker", () => {
    for (const state of TASK_STATES) {
      const to = TASK_TRANSITIONS.filter((t) => t.from === state && t.actor === "user").map((t) => t.to);
      const held = (HELD_TASK_STATES as readonly string[]).includes(state);
      const clear = held ? "restarting" : "none";
      const mark = held ? "shutdown" : "success";
      if (state !== clear) expect(to).toContain(clear);
      if (state !== mark) expect(to).toContain(mark);
    }
  });
});
