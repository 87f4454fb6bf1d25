// Makes the tags of dags these. Parameters: the dags, then pairs of dag and tag. Locks: the rows that go and come.
import { defineStatement } from "../statement.ts";

export const replaceTags = defineStatement<
  readonly [dagIds: readonly string[], taggedIds: readonly string[], tags: readonly string[]],
  never
>({
  name: "dag-replace-tags",
  sql: `
with wanted as (
  select dag_id, name from unnest($2::text[], $3::text[]) as w(dag_id, name)
), gone as (
  delete from dag_tag t where t.dag_id = any ($1) and not exists (select from wanted w where w.dag_id = t.dag_id and w.name = t.name)
)
insert into dag_tag (dag_id, name) select dag_id, name from wanted on conflict do nothing`,
});
