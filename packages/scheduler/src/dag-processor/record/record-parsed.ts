// What a DAG file declares becomes rows, in one transaction a file: artifact, dags, versions, tags, warnings and the
// pointer to the next run. A file with an error changes nothing but its error: its dags keep the version they had.
import { createHash } from "node:crypto";
import type { DagReading } from "@millrace/sdk/runtime";
import type { DagSpec } from "@millrace/sdk/spec";
import type { Config } from "@millrace/shared/config";
import {
  clearImportError,
  insertArtifact,
  insertVersions,
  lockDagFile,
  lockDagsToPlan,
  markStale,
  newId,
  readDagState,
  replaceTags,
  touchDags,
  upsertDags,
  type Database,
  type InsertedVersion,
  type LockedDag,
  type Queryable,
  type RecordedDag,
} from "@millrace/shared/db";
import type { DagBundle } from "../bundle/dag-bundle.ts";
import { dagColumns, dagHash, type DagColumns } from "./dag-columns.ts";
import { followNewest } from "./follow-newest.ts";
import { recordAssets } from "./record-assets.ts";
import { judgeReadings } from "./judge-readings.ts";
import { planChanged } from "./plan-changed.ts";
import { BUNDLE, recordFailure, refusedByPostgres } from "./record-failure.ts";
import { writeWarnings } from "./write-warnings.ts";

export interface ParsedFile {
  /** Relative to the DAG folder, with `/`. */
  readonly file: string;
  /** Absolute path. */
  readonly fileloc: string;
  /** Which commit the file is of, when it comes from git. */
  readonly bundleVersion?: string | null;
  readonly bundle: DagBundle;
  readonly dags: readonly DagReading[];
  readonly durationMs: number;
}

export type Recorded =
  | {
      readonly kind: "recorded";
      /** Whether anything but the time of the last reading is different now. */
      readonly changed: boolean;
      readonly dagIds: readonly string[];
      /** Those that are new. */
      readonly versions: readonly InsertedVersion[];
      /** DAGs that the file no longer declares. */
      readonly stale: readonly string[];
    }
  /** The file has an error, which is recorded in place of it. */
  | { readonly kind: "refused"; readonly changed: boolean; readonly message: string };

export async function recordParsed(db: Database, parsed: ParsedFile, config: Pick<Config, "core">): Promise<Recorded> {
  const judged = judgeReadings(parsed.dags);
  if ("problems" in judged) return await refuse(db, parsed.file, judged.problems);
  try {
    return await db.transaction(async (tx) => await write(tx, parsed, judged.specs, config.core), {
      actor: "dag-processor",
    });
  } catch (error) {
    const message = error instanceof DagElsewhereError ? error.message : refusedByPostgres(error);
    if (message === undefined) throw error;
    return await refuse(db, parsed.file, message);
  }
}

const refuse = async (db: Database, file: string, message: string): Promise<Recorded> => ({
  kind: "refused",
  message,
  changed: await recordFailure(db, file, message),
});

/** Rolls the transaction back. */
class DagElsewhereError extends Error {}

async function write(
  tx: Queryable,
  parsed: ParsedFile,
  specs: readonly DagSpec[],
  core: Config["core"],
): Promise<Recorded> {
  const { file, fileloc, bundle, durationMs } = parsed;
  const dagIds = specs.map((spec) => spec.dagId);
  const rows = new Map((await tx.run(lockDagFile, [BUNDLE, file, dagIds])).map((row) => [row.dagId, row]));
  const elsewhere = dagIds
    .map((id) => rows.get(id))
    .find((row) => row !== undefined && !row.isStale && row.file !== file);
  if (elsewhere !== undefined) throw declaredElsewhere(elsewhere.dagId, elsewhere.file);

  const states = new Map((await tx.run(readDagState, [dagIds])).map((state) => [state.dagId, state]));
  const columns = new Map(specs.map((spec) => [spec.dagId, dagColumns(spec, core)]));
  const isSame = (spec: DagSpec): boolean => {
    const [row, state] = [rows.get(spec.dagId), states.get(spec.dagId)];
    return (
      row !== undefined &&
      isCurrent(row, fileloc, columns.get(spec.dagId)) &&
      state?.artifactHash === bundle.hash &&
      state.dagHash === dagHash(spec)
    );
  };
  const changed = specs.filter((spec) => !isSame(spec));
  const untouched = specs.filter((spec) => !changed.includes(spec)).map((spec) => spec.dagId);
  const stale = [...rows.values()]
    .filter((row) => !row.isStale && row.file === file && !dagIds.includes(row.dagId))
    .map((row) => row.dagId);

  if (untouched.length > 0) await tx.run(touchDags, [untouched, durationMs / 1000]);
  if (stale.length > 0) await tx.run(markStale, [stale]);
  const versions = changed.length === 0 ? [] : await writeChanged(tx, parsed, changed, columns, states, core);
  if (changed.length > 0 || stale.length > 0) await recordAssets(tx, changed, stale);
  const warned = await writeWarnings(tx, specs, states);
  const [cleared] = await tx.run(clearImportError, [BUNDLE, file]);
  const isChanged = changed.length > 0 || stale.length > 0 || warned || cleared !== undefined;
  return { kind: "recorded", changed: isChanged, dagIds, versions, stale };
}

/** Whether the dag row needs no writing as long as the spec is the same: what else it depends on is as it was. */
const isCurrent = (row: LockedDag, fileloc: string, columns: DagColumns | undefined): boolean =>
  !row.isStale &&
  !row.hasImportErrors &&
  row.fileloc === fileloc &&
  row.maxActiveTasks === columns?.max_active_tasks &&
  row.maxActiveRuns === columns.max_active_runs;

async function writeChanged(
  tx: Queryable,
  { file, fileloc, bundleVersion = null, bundle, durationMs }: ParsedFile,
  specs: readonly DagSpec[],
  columns: ReadonlyMap<string, DagColumns>,
  states: ReadonlyMap<string, RecordedDag>,
  core: Config["core"],
): Promise<InsertedVersion[]> {
  const dagIds = specs.map((spec) => spec.dagId);
  const rows = JSON.stringify(dagIds.map((id) => columns.get(id)));
  const before = new Map((await tx.run(lockDagsToPlan, [dagIds])).map((dag) => [dag.dagId, dag]));
  const written = await tx.run(upsertDags, [BUNDLE, file, fileloc, durationMs / 1000, rows]);
  // RACE: a dag that was new here was meanwhile written for another file.
  const lost = dagIds.find((id) => !written.some((row) => row.dagId === id));
  if (lost !== undefined) {
    const [row] = await tx.run(lockDagFile, [BUNDLE, file, [lost]]);
    throw declaredElsewhere(lost, row?.file ?? "another file");
  }
  await tx.run(insertArtifact, [bundle.hash, bundle.code, bundle.sourceMap]);
  const sourceHash = createHash("sha256").update(bundle.source).digest("hex");
  const versions = await tx.run(insertVersions, [
    BUNDLE,
    bundle.hash,
    fileloc,
    bundle.source,
    sourceHash,
    dagIds,
    specs.map((spec) => JSON.stringify(spec)),
    specs.map(dagHash),
    dagIds.map(newId),
    dagIds.map(newId),
    dagIds.map(newId),
    bundleVersion,
  ]);
  const tags = specs.flatMap((spec) => spec.tags.map((tag): [string, string] => [spec.dagId, tag]));
  await tx.run(replaceTags, [dagIds, tags.map(([id]) => id), tags.map(([, tag]) => tag)]);
  await followNewest(tx, versions, specs, core.max_map_length);
  await planChanged(
    tx,
    specs.map((spec) => ({ spec, before: before.get(spec.dagId), state: states.get(spec.dagId) })),
  );
  return versions;
}

const declaredElsewhere = (dagId: string, file: LockedDag["file"]): DagElsewhereError =>
  new DagElsewhereError(
    `DAG "${dagId}" is declared in ${file} already: ids of DAGs are unique. Rename one of the two.`,
  );
