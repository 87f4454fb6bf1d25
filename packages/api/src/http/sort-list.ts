// Short lists that are read whole: filtered, sorted and cut here, with the parameters that lists of the database have.
import { AppError } from "@millrace/shared/errors";

export interface ListRequest {
  readonly limit: number;
  readonly offset: number;
  readonly orderBy: readonly string[] | undefined;
  /** `%` and `_` as in SQL's ilike, anywhere in the name. */
  readonly pattern: string | undefined;
}

/**
 * @param keys what can be sorted by
 * @throws AppError ORDER_BY_INVALID
 */
export function pageOfList<T>(
  items: readonly T[],
  request: ListRequest,
  nameOf: (item: T) => string,
  keys: Readonly<Record<string, (item: T) => string | number | boolean | null | undefined>>,
): { readonly items: readonly T[]; readonly total: number } {
  const orders = (request.orderBy ?? []).map((given) => {
    const isDescending = given.startsWith("-");
    const name = isDescending ? given.slice(1) : given;
    const key = Object.hasOwn(keys, name) ? keys[name] : undefined;
    if (key === undefined) throw new AppError("ORDER_BY_INVALID", { key: name, known: Object.keys(keys).join(", ") });
    return { key, sign: isDescending ? -1 : 1 };
  });
  const wanted = items.filter((item) => request.pattern === undefined || matches(nameOf(item), request.pattern));
  const sorted = wanted.toSorted((a, b) => {
    for (const { key, sign } of orders) {
      const compared = compare(key(a), key(b));
      if (compared !== 0) return sign * compared;
    }
    return 0;
  });
  return { items: sorted.slice(request.offset, request.offset + request.limit), total: wanted.length };
}

/** What is not there comes last, as in Postgres. */
function compare(a: string | number | boolean | null | undefined, b: typeof a): number {
  if (a === null || a === undefined) return b === null || b === undefined ? 0 : 1;
  if (b === null || b === undefined) return -1;
  return a === b ? 0 : a < b ? -1 : 1;
}

function matches(name: string, pattern: string): boolean {
  const source = pattern
    .replace(/[\\^$.*+?()[\]{}|]/g, "\\$&")
    .replaceAll("%", ".*")
    .replaceAll("_", ".");
  return new RegExp(source, "is").test(name);
}
