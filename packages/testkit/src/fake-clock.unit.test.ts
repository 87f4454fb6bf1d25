import { expect, test } from "vitest";
import { fakeClock } from "./fake-clock.ts";

test("timers are called in the order of their times, each at its own time", async () => {
  const clock = fakeClock(1_000);
  const calls: string[] = [];
  clock.after(20, () => calls.push(`late ${clock.now()}`));
  clock.after(10, () => calls.push(`early ${clock.now()}`));
  clock.after(30, () => calls.push("too late"));
  await clock.advance(20);
  expect(calls).toEqual(["early 1010", "late 1020"]);
  expect(clock.pending).toBe(1);
});

test("a loop that waits, works and waits again takes all its rounds in one advance", async () => {
  const clock = fakeClock();
  let rounds = 0;
  const loop = async (): Promise<void> => {
    await Promise.resolve();
    rounds++;
    clock.after(10, () => void loop());
  };
  await loop();
  await clock.advance(100);
  expect(rounds).toBe(11);
});

test("a cancelled timer is never called and counts no more", async () => {
  const clock = fakeClock();
  const timer = clock.after(5, () => expect.unreachable());
  timer.cancel();
  await clock.advance(10);
  expect(clock.pending).toBe(0);
});
