import { playSeed, type WorldOptions } from "./world.ts";

export interface FailedSeed {
  readonly seed: number;
  readonly message: string;
  readonly trace: readonly string[];
}

/** A seed that fails is played once more, to be told. */
export function playSeeds(from: number, count: number, options: WorldOptions = {}): FailedSeed | undefined {
  for (let seed = from; seed < from + count; seed++) {
    try {
      playSeed(seed, options);
    } catch (error) {
      return { seed, message: String(error), trace: traceOf(seed, options) };
    }
  }
  return undefined;
}

function traceOf(seed: number, options: WorldOptions): string[] {
  const trace: string[] = [];
  try {
    playSeed(seed, { ...options, trace });
  } catch {
    // As it did before.
  }
  return trace;
}
