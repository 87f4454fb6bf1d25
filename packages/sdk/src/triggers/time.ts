import { date, seconds } from "../reading/checks.ts";
import { secondsOf, type Duration } from "../authoring/schedules.ts";
import { builtIn } from "./built-in.ts";
import type { Trigger } from "./trigger.ts";

/** The payload of the triggers of time. */
export interface TimeEvent {
  /** The moment that was waited for; ISO 8601 in UTC. */
  readonly at: string;
}

/**
 * Fires at a moment; at once when it has passed. Airflow's `DateTimeTrigger`.
 *
 * @example `deferrable({ start: ({ opens }: { opens: string }) => until(new Date(opens)), resume: () => trade() })`
 */
export function until(at: Date): Trigger<TimeEvent> {
  return builtIn("time", { at }, { at: date }, () => ({ at: at.toISOString() }));
}

/** Fires when this much time has passed since the task began to wait: seconds, or a duration. Airflow's `TimeDeltaTrigger`. */
export function after(duration: number | Duration): Trigger<TimeEvent> {
  const afterSeconds = typeof duration === "number" ? duration : secondsOf(duration);
  return builtIn("time", { afterSeconds }, { afterSeconds: seconds("zero or more") }, () => ({ afterSeconds }));
}
