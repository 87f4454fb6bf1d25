// What the constructors of the built-in triggers share. Each of them only says what to wait for; the triggerer has the
// code, under a name that begins with `millrace.`.
import { checkOptions, type Check } from "../reading/checks.ts";
import { Trigger } from "./trigger.ts";

/** Seconds between two looks, unless said otherwise. Airflow's default for sensors. */
export const POLL_SECONDS = 60;

/**
 * @param options checked by `checks`
 * @param kwargs what the triggerer is told, or how to compute it; not called when the options are wrong
 * @param more what is wrong beyond single options
 */
export function builtIn<E>(
  name: string,
  options: object,
  checks: Readonly<Record<string, Check>>,
  kwargs: () => object,
  more: () => readonly string[] = () => [],
): Trigger<E> {
  const wrong = checkOptions(options, checks);
  const problems = wrong.length === 0 ? more() : wrong;
  return new Trigger<E>(`millrace.${name}`, problems.length === 0 ? kwargs() : {}, problems);
}

/** What is wrong when not exactly one of these options is given. */
export function oneGiven(options: object, names: readonly string[]): readonly string[] {
  const given = Object.entries(options).filter(([key, value]) => names.includes(key) && value !== undefined);
  return given.length === 1 ? [] : [`give exactly one of ${names.join(" and ")}`];
}
