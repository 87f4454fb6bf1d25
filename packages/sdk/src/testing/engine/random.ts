// A small seeded generator: the same seed draws the same history on every machine.

export interface Random {
  /** In [0, 1). */
  next(): number;
  /** In [0, below). */
  integer(below: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
}

export function randomOf(seed: number): Random {
  let state = Math.imul(seed ^ 0x9e3779b9, 0x85ebca6b) >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  return {
    next,
    integer: (below) => Math.floor(next() * below),
    chance: (probability) => next() < probability,
    pick: (from) => {
      if (from.length === 0) throw new Error("nothing to pick from");
      return from[Math.floor(next() * from.length)] as (typeof from)[number]; // not empty
    },
  };
}
