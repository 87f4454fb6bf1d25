import { defineStatement } from "../statement.ts";

export interface ArtifactRow {
  readonly code: string;
  readonly sourceMap: string;
}

export const readArtifact = defineStatement<readonly [hash: string], ArtifactRow>({
  name: "read-artifact",
  sql: `select code, source_map as "sourceMap" from dag_artifact where hash = $1`,
});
