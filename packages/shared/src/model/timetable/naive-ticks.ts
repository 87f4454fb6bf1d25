// When a cron expression fires on a clock that never changes, as milliseconds of a local time taken for UTC. Croner says
// what the fields mean: which seconds, minutes and hours, and which days; between those it is arithmetic, because asking
// croner for each tick takes a hundred times longer.
import { Cron } from "croner";

export interface NaiveTicks {
  /** The first tick strictly after, or undefined. */
  next(naive: number): number | undefined;
}

const DAY = 86_400_000;
const MOST_DAYS = 5_000;

/** @param fields five, or six with seconds last. @throws what croner throws for a field that it cannot read. */
export function naiveTicks(fields: readonly string[]): NaiveTicks {
  const [minute = "", hour = "", dom = "", month = "", dow = "", second = "0"] = fields;
  // All of it at once first, so that errors are about the expression as it was written.
  cronOf(`${second} ${fields.slice(0, 5).join(" ")}`);
  const seconds = valuesOf(cronOf(`${second} * * * * *`), 1_000, 60);
  const minutes = valuesOf(cronOf(`0 ${minute} * * * *`), 60_000, 60);
  const hours = valuesOf(cronOf(`0 0 ${hour} * * *`), 3_600_000, 24);
  const matchingDay = dayFinder(
    cronOf(`0 0 0 ${dom} ${month} ${dow}`),
    [dom, month, dow].every((field) => field === "*"),
  );
  const first = (hours[0] ?? 0) + (minutes[0] ?? 0) + (seconds[0] ?? 0);

  const nextInDay = (after: number): number | undefined => {
    const hourOf = Math.floor(after / 3_600_000) * 3_600_000;
    const minuteOf = Math.floor((after % 3_600_000) / 60_000) * 60_000;
    if (hours.includes(hourOf)) {
      if (minutes.includes(minuteOf)) {
        const later = seconds.find((value) => value > after % 60_000);
        if (later !== undefined) return hourOf + minuteOf + later;
      }
      const later = minutes.find((value) => value > minuteOf);
      if (later !== undefined) return hourOf + later + (seconds[0] ?? 0);
    }
    const later = hours.find((value) => value > hourOf);
    return later === undefined ? undefined : later + (minutes[0] ?? 0) + (seconds[0] ?? 0);
  };

  return {
    next(naive) {
      const day = Math.floor(naive / DAY);
      if (matchingDay(day) === day) {
        const time = nextInDay(naive - day * DAY);
        if (time !== undefined) return day * DAY + time;
      }
      const later = matchingDay(day + 1);
      return later === undefined ? undefined : later * DAY + first;
    },
  };
}

const cronOf = (pattern: string): Cron => new Cron(pattern, { timezone: "UTC", sloppyRanges: true, paused: true });

/** The values of a field, as milliseconds, in ascending order. */
function valuesOf(cron: Cron, unit: number, count: number): readonly number[] {
  const values: number[] = [];
  let at = cron.nextRun(new Date(-1))?.getTime();
  while (at !== undefined && at < unit * count) {
    values.push(at);
    at = cron.nextRun(new Date(at))?.getTime();
  }
  return values;
}

/** Finds the first day that matches, at or after one; days are numbered from the epoch. */
function dayFinder(cron: Cron, isEvery: boolean): (day: number) => number | undefined {
  if (isEvery) return (day) => day;
  const kept = new Map<number, number | undefined>();
  return (day) => {
    if (kept.has(day)) return kept.get(day);
    const found = cron.nextRun(new Date(day * DAY - 1))?.getTime();
    if (kept.size >= MOST_DAYS) kept.clear();
    const match = found === undefined ? undefined : Math.floor(found / DAY);
    kept.set(day, match);
    return match;
  };
}
