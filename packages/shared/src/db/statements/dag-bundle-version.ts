// At which version the files of a bundle are: the commit of a git repository. Locks: the row of the bundle; dag rows, by id.
import { defineStatement } from "../statement.ts";

export const putBundleVersion = defineStatement<readonly [bundle: string, version: string], never>({
  name: "dag-put-bundle-version",
  sql: `update dag_bundle set version = $2, last_refreshed = now() where name = $1`,
});

export const bundleVersion = defineStatement<readonly [bundle: string], { readonly version: string | null }>({
  name: "dag-bundle-version",
  sql: `select version from dag_bundle where name = $1`,
});

/** The DAGs of a file were read at this version, also when that changed nothing of them. */
export const putFileVersion = defineStatement<readonly [bundle: string, file: string, version: string | null], never>({
  name: "dag-put-file-version",
  sql: `
with read as materialized (
  select dag_id from dag
  where bundle_name = $1 and relative_fileloc = $2 and not is_stale and bundle_version is distinct from $3
  order by dag_id
  for no key update
)
update dag d set bundle_version = $3 from read where d.dag_id = read.dag_id`,
});
