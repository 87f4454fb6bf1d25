// Makes the references of dags to assets these, and drops what waits for a dag that waits for assets no more. A JSON array
// of `dag`, `kind` and what the kind has: `schedule` and `outlet` and `inlet` name and uri, the last two a task;
// `alias` and `name` a name, `uri` a uri. Gives back the dags whose references changed. Locks: the rows that go and come.
import { defineStatement } from "../statement.ts";

const replace = (given: string, table: string, columns: string, wanted: string): string => {
  const same = columns
    .split(", ")
    .map((column) => `w.${column} = o.${column}`)
    .join(" and ");
  return `${given}_wanted as materialized (${wanted}), ${given}_gone as (
  delete from ${table} o where o.dag_id = any ($1) and not exists (select from ${given}_wanted w where ${same}) returning o.dag_id
), ${given}_new as (
  insert into ${table} (${columns}) select distinct ${columns} from ${given}_wanted on conflict do nothing returning dag_id
)`;
};

const KINDS = ["schedule", "alias", "name", "uri", "outlet", "inlet"] as const;

export const replaceAssetReferences = defineStatement<
  readonly [dagIds: readonly string[], references: string],
  { readonly dagId: string }
>({
  name: "dag-replace-asset-references",
  sql: `
with given as materialized (
  select * from jsonb_to_recordset($2::jsonb) as g(kind text, dag text, task text, name text, uri text)
), ${[
    replace(
      "schedule",
      "dag_schedule_asset_reference",
      "asset_id, dag_id",
      `select a.id as asset_id, g.dag as dag_id from given g join asset a on a.name = g.name and a.uri = g.uri where g.kind = 'schedule'`,
    ),
    replace(
      "alias",
      "dag_schedule_asset_alias_reference",
      "alias_id, dag_id",
      `select a.id as alias_id, g.dag as dag_id from given g join asset_alias a on a.name = g.name where g.kind = 'alias'`,
    ),
    replace(
      "name",
      "dag_schedule_asset_name_reference",
      "name, dag_id",
      `select g.name, g.dag as dag_id from given g where g.kind = 'name'`,
    ),
    replace(
      "uri",
      "dag_schedule_asset_uri_reference",
      "uri, dag_id",
      `select g.uri, g.dag as dag_id from given g where g.kind = 'uri'`,
    ),
    replace(
      "outlet",
      "task_outlet_asset_reference",
      "asset_id, dag_id, task_id",
      `select a.id as asset_id, g.dag as dag_id, g.task as task_id from given g join asset a on a.name = g.name and a.uri = g.uri where g.kind = 'outlet'`,
    ),
    replace(
      "inlet",
      "task_inlet_asset_reference",
      "asset_id, dag_id, task_id",
      `select a.id as asset_id, g.dag as dag_id, g.task as task_id from given g join asset a on a.name = g.name and a.uri = g.uri where g.kind = 'inlet'`,
    ),
  ].join(", ")}, unwanted as (
  delete from asset_dag_run_queue q where q.target_dag_id = any ($1)
    and not exists (select from given g where g.dag = q.target_dag_id and g.kind in ('schedule', 'alias', 'name', 'uri'))
)
${KINDS.map((kind) => `select dag_id as "dagId" from ${kind}_gone union select dag_id from ${kind}_new`).join(" union ")}`,
});
