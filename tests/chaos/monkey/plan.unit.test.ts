// What docs/reliability.md says of the faults of every CI run is true of its seeds.
import { expect, test } from "vitest";
import { SEEDS } from "../arguments.ts";
import { planFaults, type Planned } from "./plan.ts";

const MINUTE_MS = 60_000;
const faults = SEEDS.flatMap((seed) => planFaults(seed, MINUTE_MS));
const some = (kind: Planned["kind"], has: (fault: Planned) => boolean = () => true): boolean =>
  faults.some((fault) => fault.kind === kind && has(fault));
const lasts = (fault: Planned): number => ("ms" in fault ? fault.ms : 0);

test("the same seed gives the same faults, and a minute of each of them has one every four seconds at least", () => {
  expect(planFaults(7, MINUTE_MS)).toEqual(planFaults(7, MINUTE_MS));
  for (const seed of SEEDS) {
    const times = planFaults(seed, MINUTE_MS).map(({ atMs }) => atMs);
    for (const [i, at] of [...times, MINUTE_MS].entries()) expect(at - (times[i - 1] ?? 0)).toBeLessThan(4_000);
  }
});

test.each<[string, boolean]>([
  [
    "a lock of 30 s on rows of pools",
    some("foreign-lock", (f) => "table" in f && f.table === "slot_pool" && lasts(f) >= 30_000),
  ],
  ["a Redis that is gone for 0.2 s", some("redis-restart", (f) => lasts(f) === 200)],
  ["a Redis that is gone for 5 s", some("redis-restart", (f) => lasts(f) === 5_000)],
  ["a Redis that is gone for 20 s", some("redis-restart", (f) => lasts(f) === 20_000)],
  ["a Redis with an old copy of itself", some("redis-old-copy")],
  ["a Redis that hangs for 10 s", some("redis-hang", (f) => lasts(f) === 10_000)],
  ["messages in another order", some("redis-reorder")],
  ["one session terminated", some("postgres-terminate", (f) => "share" in f && f.share === "one")],
  ["every session terminated", some("postgres-terminate", (f) => "share" in f && f.share === 1)],
  ["statements cancelled", some("statements-cancelled")],
  ["a link of 1 kB/s", some("trickle", (f) => "bytesPerSecond" in f && f.bytesPerSecond === 1_000)],
  ["SIGTERM to everybody in turn, twice", some("roll", (f) => "rounds" in f && f.rounds === 2 && lasts(f) >= 30_000)],
  ["a postmaster killed", some("postgres-restart", (f) => "signal" in f && f.signal === "SIGKILL")],
  ["a commit broken before it", some("break-commit", (f) => "when" in f && f.when === "before")],
  ["a commit broken after it", some("break-commit", (f) => "when" in f && f.when === "after")],
  ["a file deleted", some("dag-edited", (f) => "how" in f && f.how === "deleted")],
  ["a file broken", some("dag-edited", (f) => "how" in f && f.how === "broken")],
  ["a full disk", some("disk-full")],
  ["a full Redis", some("redis-full")],
  ["connections used up", some("connections-used-up")],
])("the seeds of CI inflict %s", (_what, isPlanned) => {
  expect(isPlanned).toBe(true);
});
