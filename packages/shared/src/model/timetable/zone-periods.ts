// A time zone as the stretches of constant offset it consists of. Temporal knows the rules; the stretches found are
// kept, because looking for a transition is a thousand times slower than using one.
import { Temporal } from "temporal-polyfill";

export interface ZonePeriod {
  /** Instants in milliseconds; the period holds start ≤ t < end. */
  readonly start: number;
  readonly end: number;
  /** Local time minus UTC, in milliseconds. */
  readonly offset: number;
}

const kept = new Map<string, ZonePeriod[]>();

/** @throws RangeError for a zone that the system does not know. */
export function zonePeriodAt(zone: string, instant: number): ZonePeriod {
  let periods = kept.get(zone);
  if (periods === undefined) kept.set(zone, (periods = []));
  const found = periods.find((period) => period.start <= instant && instant < period.end);
  if (found !== undefined) return found;
  const at = Temporal.Instant.fromEpochMilliseconds(instant).toZonedDateTimeISO(zone);
  // "previous" is strictly before, and a transition at the instant itself already belongs to the new period.
  const previous = at.add({ milliseconds: 1 }).getTimeZoneTransition("previous");
  const next = at.getTimeZoneTransition("next");
  const period = {
    start: previous?.epochMilliseconds ?? -Infinity,
    end: next?.epochMilliseconds ?? Infinity,
    offset: at.offsetNanoseconds / 1e6,
  };
  periods.push(period);
  return period;
}
