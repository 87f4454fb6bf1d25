import { fakeClock } from "@millrace/testkit";
import { expect, test } from "vitest";
import { OutageWatch } from "./outage-watch.ts";

const EVERY_MS = 5_000;
const LEASE_MS = 30_000;

test("who is answered in time may judge", async () => {
  const clock = fakeClock();
  const watch = new OutageWatch(clock, { everyMs: EVERY_MS, leaseMs: LEASE_MS });
  for (let i = 0; i < 20; i++) {
    await clock.advance(EVERY_MS);
    expect(watch.mayJudge()).toBe(true);
  }
});

test("after an outage nobody is judged for one lease: all had time to say that they live", async () => {
  const clock = fakeClock();
  const told: number[] = [];
  const watch = new OutageWatch(clock, { everyMs: EVERY_MS, leaseMs: LEASE_MS, onOutage: (ms) => void told.push(ms) });
  await clock.advance(EVERY_MS);
  watch.answered();
  await clock.advance(40_000);
  expect(watch.mayJudge()).toBe(false);
  for (let waited = EVERY_MS; waited < LEASE_MS; waited += EVERY_MS) {
    await clock.advance(EVERY_MS);
    expect(watch.mayJudge()).toBe(false);
  }
  await clock.advance(EVERY_MS);
  expect(watch.mayJudge()).toBe(true);
  expect(told).toEqual([40_000]);
});
