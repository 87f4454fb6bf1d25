import { fakeClock } from "@millrace/testkit";
import { describe, expect, test } from "vitest";
import { SignalGate } from "./signal-gate.ts";

/** Whether the wait is over, told without waiting for it. */
function watch(wait: Promise<void>): { readonly over: boolean } {
  const state = { over: false };
  void wait.then(() => (state.over = true));
  return state;
}

describe("a gate", () => {
  test("opens at once for a signal that came before, however often it came, and then is shut", async () => {
    const clock = fakeClock();
    const gate = new SignalGate(clock);
    gate.set();
    gate.set();
    await gate.wait(100);
    const again = watch(gate.wait(100));
    await clock.advance(99);
    expect(again.over).toBe(false);
    await clock.advance(1);
    expect(again.over).toBe(true);
  });

  test("wakes the waiter when the signal comes and leaves no timer behind", async () => {
    const clock = fakeClock();
    const gate = new SignalGate(clock);
    const waiting = watch(gate.wait(1_000));
    await clock.advance(1);
    expect(waiting.over).toBe(false);
    gate.set();
    await clock.advance(0);
    expect([waiting.over, clock.pending]).toEqual([true, 0]);
  });

  test("loses no signal, whenever it comes to a loop that waits and works", async () => {
    const clock = fakeClock();
    const gate = new SignalGate(clock);
    let wanted = 0;
    let seen = 0;
    let running = true;
    const loop = (async () => {
      while (running) {
        await gate.wait(1_000_000);
        const now = wanted;
        // The work, during which more may come.
        await new Promise((resolve) => setImmediate(resolve));
        seen = now;
      }
    })();
    for (let i = 0; i < 200; i++) {
      wanted++;
      gate.set();
      if (i % 3 === 0) await Promise.resolve();
      if (i % 7 === 0) await new Promise((resolve) => setImmediate(resolve));
    }
    await clock.advance(0);
    await clock.advance(0);
    await clock.advance(0);
    expect(seen).toBe(200);
    running = false;
    gate.set();
    await loop;
    expect(clock.pending).toBe(0);
  });

  test("keeps a signal that comes in the turn in which the time is up for nobody but that waiter", async () => {
    const clock = fakeClock();
    const gate = new SignalGate(clock);
    const waiting = watch(gate.wait(10));
    clock.after(10, () => gate.set());
    await clock.advance(10);
    expect(waiting.over).toBe(true);
  });
});
