// Adds a version to each dag whose newest one has other code or another spec, with its spec and its source.
// Parameters: the bundle, what is the same for all dags of the file, then parallel arrays, one entry a dag.
// Locks: none but the new rows; under the dag rows that the caller holds the numbers have no gaps and no rivals.
import { defineStatement } from "../statement.ts";

export interface InsertedVersion {
  readonly id: string;
  readonly dagId: string;
  readonly versionNumber: number;
}

export const insertVersions = defineStatement<
  readonly [
    bundle: string,
    artifactHash: string,
    fileloc: string,
    source: string,
    sourceHash: string,
    dagIds: readonly string[],
    specs: readonly string[],
    dagHashes: readonly string[],
    versionIds: readonly string[],
    serializedIds: readonly string[],
    codeIds: readonly string[],
    /** Of the bundle: the commit that the code is of. */
    bundleVersion: string | null,
  ],
  InsertedVersion
>({
  name: "dag-insert-versions",
  sql: `
with wanted as (
  select w.*, coalesce(n.version_number, 0) + 1 as version_number
  from unnest($6::text[], $7::text[], $8::text[], $9::uuid[], $10::uuid[], $11::uuid[])
    as w(dag_id, spec, dag_hash, version_id, serialized_id, code_id)
  left join lateral (
    select v.version_number, v.artifact_hash, s.dag_hash from dag_version v join serialized_dag s on s.dag_version_id = v.id
    where v.dag_id = w.dag_id order by v.version_number desc limit 1
  ) n on true
  where (n.artifact_hash, n.dag_hash) is distinct from ($2, w.dag_hash)
), version as (
  insert into dag_version (id, version_number, dag_id, bundle_name, bundle_version, artifact_hash)
  select version_id, version_number, dag_id, $1, $12::text, $2 from wanted
  returning id, dag_id, version_number
), serialized as (
  insert into serialized_dag (id, dag_id, data, dag_hash, dag_version_id)
  select serialized_id, dag_id, spec::jsonb, dag_hash, version_id from wanted
), code as (
  insert into dag_code (id, dag_id, fileloc, source_code, source_code_hash, dag_version_id)
  select code_id, dag_id, $3, $4, $5, version_id from wanted
)
select id, dag_id as "dagId", version_number as "versionNumber" from version`,
});
