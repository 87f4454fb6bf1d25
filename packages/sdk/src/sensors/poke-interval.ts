import { createHash } from "node:crypto";
import type { SensorSettings } from "./sensor-options.ts";

/**
 * Seconds until the next poke. Airflow's formula: with backoff, half of `pokeInterval` at first and twice as much each
 * time, at least 1, plus a jitter of up to as much again, which is taken from a hash so that it needs no memory; never
 * beyond what is left of the timeout, nor beyond `maxWait`.
 *
 * @param pokes how many there have been in this try, the last one included
 * @param seed `dag#task#` and something that stays the same for the whole try
 */
export function pokeIntervalSeconds(settings: SensorSettings, pokes: number, elapsed: number, seed: string): number {
  const { exponentialBackoff, pokeInterval, timeout, maxWait } = settings;
  if (!exponentialBackoff) return pokeInterval;
  const left = Math.max(timeout - Math.trunc(elapsed), 0);
  const atLeast = Math.max(Math.trunc(pokeInterval * 2 ** (pokes - 2)), 1);
  // What is cut off anyway need not be computed, and after a thousand pokes could not be.
  const grown = atLeast >= left ? left : atLeast + jitter(`${seed}#${pokes}`, atLeast);
  return Math.min(grown, left, maxWait);
}

function jitter(text: string, below: number): number {
  const hash = BigInt(`0x${createHash("sha1").update(text).digest("hex")}`);
  return Number(hash % BigInt(below));
}
