// Keeps the code of a DAG file under its hash. Equal code is there already and stays.
import { defineStatement } from "../statement.ts";

export const insertArtifact = defineStatement<readonly [hash: string, code: string, sourceMap: string], never>({
  name: "dag-insert-artifact",
  sql: `insert into dag_artifact (hash, code, source_map) values ($1, $2, $3) on conflict (hash) do nothing`,
});
