// The instants at which a cron expression fires in a time zone. The expression is matched on naive local time by
// croner (run in UTC); the zone's periods turn that into instants. Where clocks go forward a fixed time shifts or is
// skipped, where they go back it takes the first, the last or both; an expression with `*` as its hour fires every
// real hour whatever the clocks do. The next tick is always strictly later than the instant asked about.
import type { DstPolicy } from "@millrace/sdk/spec";
import { AppError, messageOf } from "../../errors/index.ts";
import { naiveTicks, type NaiveTicks } from "./naive-ticks.ts";
import { zonePeriodAt, type ZonePeriod } from "./zone-periods.ts";

export interface CronTicks {
  /** The first tick strictly after, or undefined when there is none within 100 years. */
  next(instant: number): number | undefined;
  /** The last tick strictly before, or undefined. */
  previous(instant: number): number | undefined;
}

const LIMIT_MS = 100 * 366 * 86_400_000;

const MOST_KEPT = 1_000;
const kept = new Map<string, CronTicks>();

/**
 * Kept by what they are made of: a schedule is asked again and again, and reading an expression costs more than a tick.
 * @throws AppError SCHEDULE_INVALID: not an expression, one that never fires, or an unknown zone.
 */
export function cronTicks(expression: string, zone: string, dst: DstPolicy): CronTicks {
  const key = [dst.gap, dst.fold, zone, expression].join("\n");
  const found = kept.get(key);
  if (found !== undefined) return found;
  const ticks = readCron(expression, zone, dst);
  if (kept.size >= MOST_KEPT) kept.clear();
  kept.set(key, ticks);
  return ticks;
}

/** Whether an expression names this local time, given as if it were UTC. */
export const cronMatches = (expression: string, naive: number): boolean =>
  naiveOf(expression.trim().split(/\s+/)).next(naive - 1) === naive;

const naives = new Map<string, NaiveTicks>();

function naiveOf(fields: readonly string[]): NaiveTicks {
  const key = fields.join(" ");
  const found = naives.get(key);
  if (found !== undefined) return found;
  const ticks = naiveTicks(fields);
  if (naives.size >= MOST_KEPT) naives.clear();
  naives.set(key, ticks);
  return ticks;
}

/** The ticks of several: where they meet, one. */
export function mergeTicks(all: readonly CronTicks[]): CronTicks {
  const best = (found: readonly (number | undefined)[], pick: (...numbers: number[]) => number) => {
    const some = found.filter((tick) => tick !== undefined);
    return some.length === 0 ? undefined : pick(...some);
  };
  return {
    next: (instant) =>
      best(
        all.map((ticks) => ticks.next(instant)),
        Math.min,
      ),
    previous: (instant) =>
      best(
        all.map((ticks) => ticks.previous(instant)),
        Math.max,
      ),
  };
}

function readCron(expression: string, zone: string, dst: DstPolicy): CronTicks {
  const fail = (cause: string) => new AppError("SCHEDULE_INVALID", { schedule: `"${expression}"`, cause });
  const fields = expression.trim().split(/\s+/);
  if (fields.length !== 5 && fields.length !== 6)
    throw fail(`a cron has 5 fields, or 6 with seconds last, this has ${fields.length}`);
  let naive: NaiveTicks;
  try {
    naive = naiveOf(fields);
  } catch (error) {
    throw fail(messageOf(error).replace(/^CronPattern: /, ""));
  }
  try {
    zonePeriodAt(zone, 0);
  } catch {
    throw fail(`there is no time zone ${zone}`);
  }
  const naiveNext = (at: number): number | undefined => naive.next(at);
  if (naiveNext(0) === undefined) throw fail("no date matches it, ever");
  const everyHour = fields[1] === "*" || fields[1] === "*/1" || fields[1] === "0-23";

  const inPeriod = (period: ZonePeriod, after: number): number | undefined => {
    // -1 so that a tick at the very start of the period counts.
    let from = Math.max(after, period.start - 1);
    for (;;) {
      const naive = naiveNext(from + period.offset);
      if (naive === undefined) return undefined;
      const tick = naive - period.offset;
      if (tick >= period.end) return undefined;
      if (everyHour || keeps(zone, period, tick, dst)) return tick;
      from = tick;
    }
  };

  /** Ticks whose local time the clocks jumped over at the end of `period`, moved forward by the jump. */
  const shifted = (period: ZonePeriod, after: number): number | undefined => {
    if (everyHour || dst.gap === "skip" || period.end === Infinity) return undefined;
    const gap = zonePeriodAt(zone, period.end).offset - period.offset;
    if (gap <= 0) return undefined;
    const naive = naiveNext(Math.max(after, period.end - 1) + period.offset);
    return naive !== undefined && naive < period.end + period.offset + gap ? naive - period.offset : undefined;
  };

  const next = (instant: number): number | undefined => {
    let period = zonePeriodAt(zone, instant);
    const before = period.start === -Infinity ? undefined : zonePeriodAt(zone, period.start - 1);
    let best = before === undefined ? undefined : shifted(before, instant);
    for (;;) {
      best = earliest(best, inPeriod(period, instant));
      if (best !== undefined || period.end === Infinity || period.start > instant + LIMIT_MS) return best;
      best = shifted(period, instant);
      period = zonePeriodAt(zone, period.end);
    }
  };

  const previous = (instant: number): number | undefined => {
    const first = next(instant);
    const second = first === undefined ? undefined : next(first);
    let span = first === undefined || second === undefined ? 86_400_000 : second - first;
    for (; span < LIMIT_MS; span *= 2) {
      let tick = next(instant - span - 1);
      if (tick === undefined || tick >= instant) continue;
      // A step at a time would be slow where ticks come in bursts with long pauses between them, so each round also halves
      // what is left. INVARIANT: no tick lies after `end` and before the instant.
      for (let end = instant; ;) {
        const later = next(tick);
        if (later === undefined || later >= instant) return tick;
        const middle = later + Math.floor((end - later) / 2);
        const beyond = next(middle);
        if (beyond !== undefined && beyond < instant) tick = beyond;
        else [tick, end] = [later, middle];
      }
    }
    return undefined;
  };

  return { next, previous };
}

/** Whether a tick in a local time that exists twice is the one its policy asks for. */
function keeps(zone: string, period: ZonePeriod, tick: number, dst: DstPolicy): boolean {
  if (dst.fold === "both") return true;
  if (dst.fold === "first" && period.start !== -Infinity) {
    const back = zonePeriodAt(zone, period.start - 1).offset - period.offset;
    if (back > 0 && tick < period.start + back) return false;
  }
  if (dst.fold === "last" && period.end !== Infinity) {
    const back = period.offset - zonePeriodAt(zone, period.end).offset;
    if (back > 0 && tick >= period.end - back) return false;
  }
  return true;
}

const earliest = (a: number | undefined, b: number | undefined): number | undefined =>
  a === undefined ? b : b === undefined ? a : Math.min(a, b);
