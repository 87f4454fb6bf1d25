// Knex as a builder of SQL and nothing else: it never connects. Values travel as parameters, names of columns come only
// from this folder.
import knex, { type Knex } from "knex";
import type { Database } from "../database.ts";
import { fromRows } from "../rows.ts";

export type Query = Knex.QueryBuilder;

export const sql = knex({ client: "pg" });

/** The part of `Database` that reads need. */
export type Reader = Pick<Database, "read">;

export interface PageRequest {
  /** Undefined: all of them. 0: only the count. */
  readonly limit?: number | undefined;
  readonly offset?: number | undefined;
}

export interface Page<R> {
  readonly items: readonly R[];
  /** How many there are after the filters, on all pages. */
  readonly totalEntries: number;
}

export async function readRows<R>(db: Reader, query: Query): Promise<R[]> {
  const native = query.toSQL().toNative();
  return fromRows<R>(await db.read<Readonly<Record<string, unknown>>>(native.sql, native.bindings));
}

/**
 * @param filtered without columns and order: it is counted as it is, then given both
 * @param columns raw SQL, constant
 */
export async function readPage<R>(
  db: Reader,
  filtered: Query,
  shape: {
    readonly columns: string;
    readonly order: (query: Query) => Query;
    readonly joins?: (query: Query) => Query;
    /** Alias of the listed table, when the order needs it alone: then the joins are made for the rows of the page only. */
    readonly pageFirst?: string | undefined;
  },
  page: PageRequest,
): Promise<Page<R>> {
  const count = filtered.clone().count({ total: "*" });
  const { columns, order, joins = (query) => query, pageFirst } = shape;
  const cut = (query: Query): Query => {
    if (page.limit !== undefined) void query.limit(page.limit);
    if (page.offset !== undefined) void query.offset(page.offset);
    return query;
  };
  const rows =
    pageFirst === undefined
      ? cut(order(joins(filtered.clone()).select(sql.raw(columns))))
      : order(
          joins(sql.from(cut(order(filtered.clone().select(`${pageFirst}.*`))).as(pageFirst))).select(sql.raw(columns)),
        );
  const [counted, items] = await Promise.all([
    readRows<{ total: number }>(db, count),
    page.limit === 0 ? [] : readRows<R>(db, rows),
  ]);
  return { items, totalEntries: counted[0]?.total ?? 0 };
}
