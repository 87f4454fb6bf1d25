// Keeps why a file cannot be read, and says so at its dags: they get no new runs until it is fixed. The same error again
// keeps its time. Returns a row when something changed. Locks: dag rows, by id.
import { defineStatement } from "../statement.ts";

export const putImportError = defineStatement<
  readonly [bundle: string, file: string, stacktrace: string],
  { readonly changed: boolean }
>({
  name: "dag-put-import-error",
  sql: `
with broken as materialized (
  select dag_id from dag
  where bundle_name = $1 and relative_fileloc = $2 and not is_stale and not has_import_errors
  order by dag_id
  for no key update
), flagged as (
  update dag d set has_import_errors = true from broken where d.dag_id = broken.dag_id returning d.dag_id
), put as (
  insert into import_error as e (bundle_name, filename, stacktrace) values ($1, $2, $3)
  on conflict (bundle_name, filename) do update set stacktrace = excluded.stacktrace, timestamp = now()
  where e.stacktrace <> excluded.stacktrace
  returning id
)
select true as changed from put union select true from flagged`,
});
