import { describe, expect, test } from "vitest";
import { fakeClock } from "@millrace/testkit";
import { LargeTasks, type Named } from "./large-tasks.ts";

const named = (of: Record<number, readonly string[] | null>): Named =>
  new Map(Object.entries(of).map(([run, tasks]) => [Number(run), tasks === null ? null : new Set(tasks)]));

describe("a mapped task with very many instances", () => {
  test("rests after a look, and is looked at once when that is over, however often it was asked for", async () => {
    const clock = fakeClock();
    const large = new LargeTasks(clock);
    large.looked(named({}), [{ dagRunId: 1, taskId: "each", size: 10_000, open: 9_000 }]);
    for (let i = 0; i < 3; i++) {
      const asked = named({ 1: ["each", "other"], 2: ["each"], 3: null });
      large.sift(asked, []);
      expect(asked).toEqual(named({ 1: ["other"], 2: ["each"], 3: null }));
    }
    expect(large.nextAt).toBe(clock.now() + 1_000);
    await clock.advance(1_000);
    const rested = named({});
    large.sift(rested, []);
    expect(rested).toEqual(named({ 1: ["each"] }));
    // The pass fails, and the next one looks at the same.
    const again = named({});
    large.sift(again, []);
    expect(again).toEqual(rested);
    large.looked(again, [{ dagRunId: 1, taskId: "each", size: 10_000, open: 9_000 }]);
    expect(large.nextAt).toBe(Infinity);
  });

  test("has rested as soon as all have ended that had not", () => {
    const clock = fakeClock();
    const large = new LargeTasks(clock);
    large.looked(named({}), [{ dagRunId: 1, taskId: "each", size: 10_000, open: 3 }]);
    const ask = (...wakes: readonly string[][]) => {
      const asked = named({ 1: [...new Set(wakes.flat())] });
      large.sift(
        asked,
        wakes.map((taskIds) => ({ dagRunId: 1, taskIds })),
      );
      return asked;
    };
    expect(ask(["each"], ["other"])).toEqual(named({ 1: ["other"] }));
    expect(ask(["each", "each"])).toEqual(named({ 1: ["each"] }));
    expect(clock.now()).toBe(0);
  });

  test("is looked at with the whole of its run whenever that is asked for", () => {
    const large = new LargeTasks(fakeClock());
    large.looked(named({}), [{ dagRunId: 1, taskId: "each", size: 10_000, open: 9_000 }]);
    const asked = named({ 1: null });
    large.sift(asked, []);
    expect(asked).toEqual(named({ 1: null }));
  });

  test("does not rest when it is small, and not for longer than a second", () => {
    const clock = fakeClock();
    const large = new LargeTasks(clock);
    large.looked(named({}), [
      { dagRunId: 1, taskId: "small", size: 100, open: 100 },
      { dagRunId: 1, taskId: "huge", size: 1_000_000, open: 1 },
    ]);
    const asked = named({ 1: ["small", "huge"] });
    large.sift(asked, []);
    expect(asked).toEqual(named({ 1: ["small"] }));
    expect(large.nextAt).toBe(clock.now() + 1_000);
    expect(large.handOver()).toEqual([{ dagRunId: 1, taskIds: ["huge"] }]);
    expect(large.nextAt).toBe(Infinity);
  });
});
