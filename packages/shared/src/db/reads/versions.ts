import type { DagSpec } from "@millrace/sdk/spec";
import { AppError } from "../../errors/index.ts";
import { readPage, readRows, sql, type Page, type PageRequest, type Query, type Reader } from "./query.ts";
import { orderBy } from "./filters.ts";

export interface VersionRow {
  readonly id: string;
  readonly dagId: string;
  readonly versionNumber: number;
  readonly bundleName: string | null;
  readonly bundleVersion: string | null;
  readonly artifactHash: string;
  readonly createdAt: Date;
}

/** Newest first. */
export async function listVersions(db: Reader, dagId: string, page: PageRequest = {}): Promise<Page<VersionRow>> {
  const query = sql.from({ v: "dag_version" }).where("v.dag_id", dagId);
  const order = orderBy({ version_number: "v.version_number" }, ["-version_number"], "v.id");
  return await readPage(db, query, { columns: "v.*", order }, page);
}

const ofVersion = (query: Query, dagId: string, versionNumber: number | undefined): Query => {
  void query.where("v.dag_id", dagId).orderBy("v.version_number", "desc").limit(1);
  return versionNumber === undefined ? query : query.where("v.version_number", versionNumber);
};

export interface SourceRow {
  readonly dagId: string;
  readonly versionNumber: number;
  readonly fileloc: string;
  readonly sourceCode: string;
  readonly createdAt: Date;
}

/**
 * The file as it was read for a version. Undefined: the newest.
 * @throws AppError DAG_VERSION_NOT_FOUND
 */
export async function getSource(db: Reader, dagId: string, versionNumber?: number): Promise<SourceRow> {
  const query = sql.from({ v: "dag_version" }).joinRaw("join dag_code c on c.dag_version_id = v.id");
  const [source] = await readRows<SourceRow>(
    db,
    ofVersion(query, dagId, versionNumber).select(
      sql.raw("v.dag_id, v.version_number, c.fileloc, c.source_code, v.created_at"),
    ),
  );
  if (source === undefined) throw versionNotFound(dagId, versionNumber);
  return source;
}

/**
 * The DAG as data. Undefined: the newest version.
 * @throws AppError DAG_VERSION_NOT_FOUND
 */
export async function getDagSpec(db: Reader, dagId: string, versionNumber?: number): Promise<DagSpec> {
  const query = sql.from({ v: "dag_version" }).joinRaw("join serialized_dag s on s.dag_version_id = v.id");
  const [row] = await readRows<{ data: DagSpec }>(db, ofVersion(query, dagId, versionNumber).select(sql.raw("s.data")));
  if (row === undefined) throw versionNotFound(dagId, versionNumber);
  return row.data;
}

const versionNotFound = (dagId: string, versionNumber: number | undefined): AppError =>
  new AppError("DAG_VERSION_NOT_FOUND", { dagId, version: versionNumber ?? "at all" });
