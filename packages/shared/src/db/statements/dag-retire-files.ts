// Marks the dags of files that are gone as stale, and forgets the errors of such files. Parameters: the bundle and every
// file that is there. Locks: dag rows, by id.
import { defineStatement } from "../statement.ts";

export const retireFiles = defineStatement<
  readonly [bundle: string, files: readonly string[]],
  { readonly dagId: string }
>({
  name: "dag-retire-files",
  sql: `
with gone as materialized (
  select dag_id from dag
  where bundle_name = $1 and not is_stale and relative_fileloc <> all ($2::text[])
  order by dag_id
  for no key update
), forgotten as (
  delete from import_error where bundle_name = $1 and filename <> all ($2::text[])
)
update dag d set is_stale = true from gone where d.dag_id = gone.dag_id returning d.dag_id as "dagId"`,
});
