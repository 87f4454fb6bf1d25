// Filters and sorting as Airflow's API has them, for every list.
import { AppError } from "../../errors/index.ts";
import type { Query } from "./query.ts";

/** Sort keys as the caller may name them → SQL of the sort expression. */
export type SortKeys = Readonly<Record<string, string>>;

const MAX_SORT_KEYS = 10;

/**
 * `["-run_after", "id"]`: a leading `-` sorts descending. The unique `tie` goes last, in the direction of the first key,
 * so that pages never overlap.
 * @throws AppError ORDER_BY_INVALID
 */
export function orderBy(keys: SortKeys, asked: readonly string[], tie: string): (query: Query) => Query {
  if (asked.length > MAX_SORT_KEYS) {
    throw new AppError("ORDER_BY_INVALID", { key: asked.join(", "), known: `at most ${MAX_SORT_KEYS} keys` });
  }
  const sorts = asked.map((key) => {
    const descending = key.startsWith("-");
    const name = descending ? key.slice(1) : key;
    const expression = Object.hasOwn(keys, name) ? keys[name] : undefined;
    if (expression === undefined) {
      throw new AppError("ORDER_BY_INVALID", { key: name, known: Object.keys(keys).join(", ") });
    }
    return { expression, direction: descending ? "desc" : "asc" };
  });
  sorts.push({ expression: tie, direction: sorts[0]?.direction ?? "asc" });
  return (query) => query.orderByRaw(sorts.map((sort) => `${sort.expression} ${sort.direction}`).join(", "));
}

/** Case-insensitive substring; `a|b` is either, `~` is everything, and `%` and `_` keep their meaning in LIKE. */
export function matchPattern(query: Query, column: string, pattern: string | undefined): void {
  if (pattern === undefined || pattern === "" || pattern === "~") return;
  const terms = pattern.split("|").filter((term) => term !== "");
  if (terms.length === 0) return;
  void query.where((either) => {
    for (const term of terms) void either.orWhereRaw("?? ilike ?", [column, `%${term}%`]);
  });
}

/** `null`/`undefined` and an empty list mean: no filter. */
export function oneOf(query: Query, column: string, values: readonly string[] | readonly number[] | undefined): void {
  if (values === undefined || values.length === 0) return;
  void query.whereRaw("?? = any (?)", [column, values.map(String)]);
}

/** State NULL is called `none` (Airflow's API also says `no_status`). */
export function inStates(query: Query, column: string, states: readonly string[] | undefined): void {
  if (states === undefined || states.length === 0) return;
  const named = states.filter((state) => state !== "none" && state !== "no_status");
  void query.where((either) => {
    void either.whereRaw("?? = any (?)", [column, named]);
    if (named.length < states.length) void either.orWhereNull(column);
  });
}

export interface TimeRange {
  readonly gte?: Date | undefined;
  readonly gt?: Date | undefined;
  readonly lte?: Date | undefined;
  readonly lt?: Date | undefined;
}

const OPERATORS = { gte: ">=", gt: ">", lte: "<=", lt: "<" } as const;

export function within(query: Query, column: string, range: TimeRange | undefined): void {
  if (range === undefined) return;
  for (const [bound, operator] of Object.entries(OPERATORS) as [keyof TimeRange, string][]) {
    const value = range[bound];
    if (value !== undefined) void query.where(column, operator, value);
  }
}
