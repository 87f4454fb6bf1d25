// Tables that have become more than twice as large since Postgres last counted what is in them. Until it counts again, which
// autovacuum lets it do once a minute, statements are carried out as was best for the small table: they read all of it.
import { defineStatement } from "../statement.ts";

export const grownTables = defineStatement<readonly [tables: readonly string[]], { readonly name: string }>({
  name: "grown-tables",
  sql: `
select c.oid::regclass::text as name
from unnest($1::text[]) as t(name)
join pg_class c on c.oid = to_regclass(t.name)
where pg_relation_size(c.oid) / current_setting('block_size')::int > 2 * c.relpages + 8`,
});
