// A small seeded generator: the same seed draws the same histories on every machine.

export interface Random {
  /** In [0, 1). */
  next(): number;
  /** In [0, below). */
  integer(below: number): number;
  chance(probability: number): boolean;
  pick<T>(from: readonly T[]): T;
  /** Each with the given probability, in their order. */
  some<T>(from: readonly T[], probability: number): T[];
  shuffle<T>(from: readonly T[]): T[];
}

export function randomOf(seed: number): Random {
  let state = seed >>> 0;
  const next = (): number => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), state | 1);
    mixed ^= mixed + Math.imul(mixed ^ (mixed >>> 7), mixed | 61);
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const integer = (below: number): number => Math.floor(next() * below);
  return {
    next,
    integer,
    chance: (probability) => next() < probability,
    pick: (from) => {
      const one = from[integer(from.length)];
      if (one === undefined) throw new Error("nothing to pick from");
      return one;
    },
    some: (from, probability) => from.filter(() => next() < probability),
    shuffle: (from) =>
      from
        .map((one) => ({ one, at: next() }))
        .sort((a, b) => a.at - b.at)
        .map(({ one }) => one),
  };
}
