// The lists over which tasks and groups are mapped, as a DAG file writes them.
import { SOURCES, type ELEMENTS, type ListOf, type OUTPUT, type Output } from "./refs.ts";

/** A list made of others. Goes into `expand` and `expandKwargs` only: it has no value of its own. */
export class CombinedList<T> implements Output<readonly T[]> {
  declare readonly [OUTPUT]: readonly T[];
  declare readonly [ELEMENTS]: T;
  readonly [SOURCES]: readonly unknown[];
  readonly kind: "zip" | "concat";
  /** As long as the longest, with this where a list has ended. */
  readonly fill: { readonly value: unknown } | undefined;

  constructor(kind: "zip" | "concat", sources: readonly unknown[], fill?: { readonly value: unknown }) {
    this.kind = kind;
    this[SOURCES] = sources;
    this.fill = fill;
  }
}

/** The element of each list of a tuple of lists. */
export type ElementsOf<L extends readonly unknown[]> = { [K in keyof L]: L[K] extends ListOf<infer T> ? T : never };

/**
 * What stands at the same place of several lists, as tuples: for tasks that are mapped over pairs. It is as long as the
 * shortest of them. Airflow's `XComArg.zip`.
 *
 * @example `copy.expand({ pair: zip(sources, targets) })`
 */
export function zip<L extends readonly [ListOf<unknown>, ...ListOf<unknown>[]]>(...lists: L): Output<ElementsOf<L>[]> {
  return new CombinedList("zip", lists) as unknown as Output<ElementsOf<L>[]>; // a phantom type: there is no value
}

/** As {@link zip}, as long as the longest list; `fill` stands where a shorter one has ended. */
export function zipLongest<F, L extends readonly [ListOf<unknown>, ...ListOf<unknown>[]]>(
  fill: F,
  ...lists: L
): Output<{ [K in keyof ElementsOf<L>]: ElementsOf<L>[K] | F }[]> {
  const list = new CombinedList("zip", lists, { value: fill });
  return list as unknown as Output<{ [K in keyof ElementsOf<L>]: ElementsOf<L>[K] | F }[]>; // as above
}

/** Lists one after the other. Airflow's `XComArg.concat`. */
export function concat<T>(...lists: readonly ListOf<T>[]): Output<T[]> {
  return new CombinedList<T>("concat", lists) as unknown as Output<T[]>; // as above
}
