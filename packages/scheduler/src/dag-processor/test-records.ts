// What the tests of this room read back from the database.
import { loadConfig, type Config } from "@millrace/shared/config";
import { Database } from "@millrace/shared/db";
import { createLogger } from "@millrace/shared/observability";
import type { TestDatabase } from "@millrace/testkit";
import { afterAll } from "vitest";

export const silent = createLogger({ level: "silent", name: "test" });

export function openTestDatabase({ url }: TestDatabase): Database {
  const db = new Database({ url, applicationName: "test", maxConnections: 5, maxRetries: 5, log: silent });
  afterAll(() => db.close());
  return db;
}

export const testConfig = (overrides: Readonly<Record<string, unknown>> = {}): Config =>
  loadConfig({
    env: {},
    cwd: "/nonexistent",
    overrides: { "database.url": "postgres://test", "broker.url": "postgres", ...overrides },
  });

export interface DagRow {
  readonly dagId: string;
  readonly isPaused: boolean;
  readonly isStale: boolean;
  readonly hasImportErrors: boolean;
  readonly nextDagrun: Date | null;
  readonly createAfter: Date | null;
  /** Numbers of its versions. */
  readonly versions: readonly number[];
}

export async function readDags(db: Database): Promise<Record<string, DagRow>> {
  const rows = await db.read<DagRow>(`
select dag_id as "dagId", is_paused as "isPaused", is_stale as "isStale", has_import_errors as "hasImportErrors",
  next_dagrun as "nextDagrun", next_dagrun_create_after as "createAfter",
  array(select version_number from dag_version v where v.dag_id = d.dag_id order by 1) as versions
from dag d order by 1`);
  return Object.fromEntries(rows.map((row) => [row.dagId, row]));
}

export async function readImportErrors(db: Database): Promise<Record<string, string>> {
  const rows = await db.read<{ filename: string; stacktrace: string }>("select filename, stacktrace from import_error");
  return Object.fromEntries(rows.map((row) => [row.filename, row.stacktrace]));
}
