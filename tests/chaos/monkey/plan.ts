// What the monkey does, decided from the seed alone before anything starts: the same seed gives the same faults at the
// same times. Faults overlap: each lasts for a while, and the next does not wait for its end.
import { Random } from "../random.ts";
import { TIMES } from "../rig/fleet.ts";

export type Fault =
  | { readonly kind: "kill" | "terminate"; readonly member: string }
  | { readonly kind: "freeze"; readonly member: string; readonly ms: number }
  | { readonly kind: "kill-child"; readonly member: string; readonly nth: number }
  | { readonly kind: "cut" | "swallow"; readonly member: string; readonly link: LinkName; readonly ms: number }
  | {
      readonly kind: "slow";
      readonly member: string;
      readonly link: LinkName;
      readonly ms: number;
      readonly byMs: number;
    }
  | { readonly kind: "break-commit"; readonly member: string; readonly when: "before" | "after" }
  | { readonly kind: "redis-flush" }
  | { readonly kind: "redis-full"; readonly ms: number }
  | { readonly kind: "connections-used-up"; readonly ms: number }
  | {
      readonly kind: "trickle";
      readonly member: string;
      readonly link: LinkName;
      readonly ms: number;
      readonly bytesPerSecond: number;
    }
  | { readonly kind: "roll"; readonly rounds: number; readonly ms: number }
  | { readonly kind: "dag-file-changed"; readonly nth: number }
  | { readonly kind: "dag-edited"; readonly how: "broken" | "deleted" | "changed"; readonly ms: number }
  | { readonly kind: "clock"; readonly member: string; readonly byMs: number; readonly ms: number }
  | { readonly kind: "disk-full"; readonly ms: number }
  | { readonly kind: "redis-old-copy"; readonly ms: number }
  | { readonly kind: "redis-lose-keys"; readonly share: number }
  | { readonly kind: "redis-reorder"; readonly ms: number; readonly seed: number }
  | { readonly kind: "redis-restart" | "redis-hang"; readonly ms: number }
  | { readonly kind: "postgres-terminate"; readonly share: number | "one" }
  | { readonly kind: "statements-cancelled"; readonly ms: number }
  | { readonly kind: "postgres-restart"; readonly signal: "SIGQUIT" | "SIGKILL"; readonly ms: number }
  | { readonly kind: "foreign-lock"; readonly table: "slot_pool" | "dag_run" | "task_instance"; readonly ms: number };

export type LinkName = "postgres" | "redis";
export type Planned = Fault & { readonly atMs: number };

const WORKERS = ["worker-1", "worker-2", "worker-3"] as const;
const SCHEDULERS = ["scheduler-1", "scheduler-2"] as const;
const ANY = [
  ...WORKERS,
  ...WORKERS,
  ...SCHEDULERS,
  ...SCHEDULERS,
  "triggerer-1",
  "triggerer-2",
  "api-1",
  "dag-processor-1",
];
const MINUTE_MS = 60_000;
const HOUR_MS = 3_600_000;
const FROZEN_MS = TIMES.lease * 2_000;

/**
 * Every kind comes before any comes twice: six short trials leave none out. Besides, each minute has one of the long ones,
 * in turn, and early enough to be over with it.
 */
export function planFaults(seed: number, durationMs: number): Planned[] {
  const random = new Random(seed);
  const planned: Planned[] = [];
  for (let minute = 0; minute * MINUTE_MS < durationMs; minute++) {
    const fault = LONG[(seed + minute) % LONG.length];
    const atMs = Math.round(minute * MINUTE_MS + random.between(2_000, 15_000));
    if (fault !== undefined && atMs + fault.ms <= durationMs) planned.push({ ...fault, atMs });
  }
  let deck: (typeof KINDS)[number][] = [];
  for (let atMs = random.between(1_000, 2_500); atMs < durationMs; atMs += random.between(700, 2_600)) {
    if (deck.length === 0) deck = [...KINDS];
    const [draw] = deck.splice(random.below(deck.length), 1);
    if (draw !== undefined) planned.push({ ...draw(random), atMs: Math.round(atMs) });
  }
  return planned.toSorted((a, b) => a.atMs - b.atMs);
}

/** A lock is held for longer than a statement waits for one. */
const LONG: readonly (Fault & { readonly ms: number })[] = [
  { kind: "foreign-lock", table: "task_instance", ms: 30_000 },
  { kind: "foreign-lock", table: "slot_pool", ms: 30_000 },
  { kind: "redis-hang", ms: 10_000 },
  { kind: "redis-restart", ms: 20_000 },
  { kind: "swallow", member: "scheduler-1", link: "postgres", ms: 30_000 },
  { kind: "roll", rounds: 2, ms: 45_000 },
  { kind: "foreign-lock", table: "dag_run", ms: 30_000 },
];

const KINDS: readonly ((random: Random) => Fault)[] = [
  (random) => ({ kind: "kill", member: random.pick(WORKERS) }),
  (random) => ({ kind: "kill", member: random.pick(SCHEDULERS) }),
  (random) => ({ kind: "kill", member: random.pick(ANY) }),
  (random) => ({ kind: "terminate", member: random.pick(ANY) }),
  (random) => ({ kind: "terminate", member: random.pick(WORKERS) }),
  (random) => ({ kind: "freeze", member: random.pick(WORKERS), ms: FROZEN_MS }),
  (random) => ({ kind: "freeze", member: random.pick(ANY), ms: FROZEN_MS }),
  (random) => ({ kind: "kill-child", member: random.pick(WORKERS), nth: random.below(4) }),
  (random) => ({
    kind: "cut",
    member: random.pick(ANY),
    link: random.pick(["postgres", "redis"]),
    ms: random.between(200, 5_000),
  }),
  (random) => ({
    kind: "swallow",
    member: random.pick(ANY),
    link: random.pick(["postgres", "redis"]),
    ms: random.between(500, 6_000),
  }),
  (random) => ({
    kind: "slow",
    member: random.pick(ANY),
    link: random.pick(["postgres", "redis"]),
    ms: random.between(1_000, 5_000),
    byMs: Math.round(random.between(20, 500)),
  }),
  (random) => ({ kind: "break-commit", member: random.pick(WORKERS), when: random.pick(["before", "after"]) }),
  (random) => ({ kind: "break-commit", member: random.pick(ANY), when: random.pick(["before", "after"]) }),
  () => ({ kind: "redis-flush" }),
  (random) => ({ kind: "redis-full", ms: random.between(500, 3_000) }),
  (random) => ({ kind: "connections-used-up", ms: random.between(500, 2_000) }),
  (random) => ({
    kind: "trickle",
    member: random.pick(ANY),
    link: random.pick(["postgres", "redis"]),
    ms: random.between(1_000, 5_000),
    bytesPerSecond: random.pick([1_000, 100_000]),
  }),
  (random) => ({ kind: "roll", rounds: 1, ms: random.between(5_000, 15_000) }),
  (random) => ({ kind: "dag-file-changed", nth: random.below(1_000_000) }),
  (random) => ({ kind: "dag-edited", how: random.pick(["broken", "changed"]), ms: random.between(1_000, 6_000) }),
  (random) => ({ kind: "dag-edited", how: "deleted", ms: random.between(1_000, 6_000) }),
  (random) => ({
    kind: "clock",
    member: random.pick(ANY),
    byMs: random.pick([-HOUR_MS, HOUR_MS]),
    ms: random.between(2_000, 10_000),
  }),
  (random) => ({ kind: "clock", member: random.pick(ANY), byMs: random.pick([-HOUR_MS, HOUR_MS]), ms: Infinity }),
  (random) => ({ kind: "disk-full", ms: random.between(1_000, 6_000) }),
  (random) => ({ kind: "redis-old-copy", ms: random.between(500, 6_000) }),
  (random) => ({ kind: "redis-lose-keys", share: random.between(0.2, 0.9) }),
  (random) => ({ kind: "redis-reorder", ms: random.between(2_000, 6_000), seed: random.below(1_000_000) }),
  (random) => ({ kind: "redis-restart", ms: random.pick([200, 5_000]) }),
  (random) => ({ kind: "redis-hang", ms: random.between(500, 4_000) }),
  (random) => ({ kind: "postgres-terminate", share: random.pick(["one", 0.3, 1]) }),
  (random) => ({ kind: "statements-cancelled", ms: random.between(500, 3_000) }),
  (random) => ({
    kind: "postgres-restart",
    signal: random.pick(["SIGQUIT", "SIGQUIT", "SIGKILL"]),
    ms: random.between(0, 1_500),
  }),
  (random) => ({
    kind: "foreign-lock",
    table: random.pick(["slot_pool", "dag_run", "task_instance"]),
    ms: random.pick([500, 3_000]),
  }),
];
