// The ticks of an expression that asks for the same times on every day, by arithmetic: most schedules are such, and a
// general search costs a hundred times as much. Anything else than numbers, lists, ranges and steps is left to croner.

const FIELD = /^(?:\*|\d{1,2}(?:-\d{1,2})?)(?:\/\d{1,2})?$/;
const DAY = 86_400_000;

/**
 * @param fields five, as in cron; in naive local time
 * @returns the first tick strictly after an instant of it; undefined for an expression that is not of this kind
 */
export function dailyTimes(fields: readonly string[]): ((naive: number) => number) | undefined {
  const [minute = "", hour = "", ...dates] = fields;
  if (fields.length !== 5 || dates.some((field) => field !== "*")) return undefined;
  const [minutes, hours] = [valuesOf(minute, 59), valuesOf(hour, 23)];
  if (minutes === undefined || hours === undefined) return undefined;
  const times = hours.flatMap((h) => minutes.map((m) => (h * 60 + m) * 60_000));
  return (naive) => {
    const day = Math.floor(naive / DAY) * DAY;
    const time = naive - day;
    let [from, to] = [0, times.length];
    while (from < to) {
      const middle = (from + to) >> 1;
      if ((times[middle] ?? 0) > time) to = middle;
      else from = middle + 1;
    }
    return from < times.length ? day + (times[from] ?? 0) : day + DAY + (times[0] ?? 0);
  };
}

/** Sorted; undefined for what is not plain numbers, or beyond `max`. */
function valuesOf(field: string, max: number): number[] | undefined {
  const values = new Set<number>();
  for (const part of field.split(",")) {
    if (!FIELD.test(part)) return undefined;
    const [range = "", step] = part.split("/");
    const [first = "", last] = range.split("-");
    // A number with a step goes on to the end in some crons and is refused by others.
    if (step !== undefined && range !== "*" && last === undefined) return undefined;
    const [from, to] = range === "*" ? [0, max] : [Number(first), Number(last ?? first)];
    const by = step === undefined ? 1 : Number(step);
    if (to > max || from > to || by === 0) return undefined;
    for (let value = from; value <= to; value += by) values.add(value);
  }
  return [...values].sort((a, b) => a - b);
}
