import type { Config } from "@millrace/shared/config";
import type { TimeRange } from "@millrace/shared/db";

/** A page is never longer than allowed, whatever was asked for. */
export const pageOf = (
  query: { readonly limit?: number | undefined; readonly offset?: number | undefined },
  config: Config["api"],
): { readonly limit: number; readonly offset: number } => ({
  limit: Math.min(query.limit ?? config.fallback_page_limit, config.maximum_page_limit),
  offset: query.offset ?? 0,
});

type RangeQuery<N extends string> = { readonly [K in `${N}_${"gte" | "gt" | "lte" | "lt"}`]?: string | undefined };

export function rangeIn<const N extends string>(query: RangeQuery<N>, name: N): TimeRange {
  const bound = (key: "gte" | "gt" | "lte" | "lt"): Date | undefined => {
    const value = query[`${name}_${key}`];
    return value === undefined ? undefined : new Date(value);
  };
  return { gte: bound("gte"), gt: bound("gt"), lte: bound("lte"), lt: bound("lt") };
}
