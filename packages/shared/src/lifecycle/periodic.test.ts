import { fakeClock } from "@millrace/testkit";
import { describe, expect, test } from "vitest";
import { Periodic } from "./periodic.ts";

function rounds() {
  const ends: (() => void)[] = [];
  const run = () => new Promise<void>((resolve) => ends.push(resolve));
  return { ends, run };
}

describe("something periodic", () => {
  test("runs first after one pause, and again and again", async () => {
    const clock = fakeClock();
    const times: number[] = [];
    const periodic = new Periodic({
      everyMs: 100,
      clock,
      run: () => Promise.resolve(void times.push(clock.now())),
      onError: () => expect.unreachable(),
    });
    await periodic.start();
    await periodic.start();
    await clock.advance(350);
    expect(times).toEqual([100, 200, 300]);
    await periodic.stop();
    expect(clock.pending).toBe(0);
    await clock.advance(1_000);
    expect(times).toHaveLength(3);
  });

  test("counts the pause from the end of a round, so that no two rounds run at once", async () => {
    const clock = fakeClock();
    const { ends, run } = rounds();
    const periodic = new Periodic({ everyMs: 100, clock, run, onError: () => expect.unreachable() });
    await periodic.start();
    await clock.advance(1_000);
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await clock.advance(99);
    expect(ends).toHaveLength(1);
    await clock.advance(1);
    expect(ends).toHaveLength(2);
    ends[1]?.();
    await periodic.stop();
  });

  test("tells of a failed round and goes on", async () => {
    const clock = fakeClock();
    const errors: unknown[] = [];
    const run = () => Promise.reject(new Error("no database"));
    const periodic = new Periodic({ everyMs: 10, clock, run, onError: (error) => errors.push(error) });
    await periodic.start();
    await clock.advance(30);
    expect(errors).toHaveLength(3);
    await periodic.stop();
  });

  test("stops only when the round under way is over, and starts no other", async () => {
    const clock = fakeClock();
    const { ends, run } = rounds();
    const periodic = new Periodic({ everyMs: 10, clock, run, onError: () => expect.unreachable() });
    await periodic.start();
    await clock.advance(10);
    let stopped = false;
    const stopping = periodic.stop().then(() => (stopped = true));
    await clock.advance(50);
    expect(stopped).toBe(false);
    ends[0]?.();
    await stopping;
    await clock.advance(50);
    expect([ends.length, clock.pending]).toEqual([1, 0]);
    await periodic.stop();
  });

  test("that is started again while it stops goes on once, not twice", async () => {
    const clock = fakeClock();
    const { ends, run } = rounds();
    const periodic = new Periodic({ everyMs: 10, clock, run, onError: () => expect.unreachable() });
    await periodic.start();
    await clock.advance(10);
    const stopping = periodic.stop();
    await periodic.start();
    await clock.advance(10);
    expect(ends).toHaveLength(1);
    ends[0]?.();
    await stopping;
    await clock.advance(10);
    expect([ends.length, clock.pending]).toEqual([2, 0]);
    ends[1]?.();
    await periodic.stop();
    expect(clock.pending).toBe(0);
  });
});
