import { messageOf } from "@millrace/shared/errors";
import { activateAssets, clearImportError, putImportError, retireFiles, type Database } from "@millrace/shared/db";

/** Airflow's name for the folder of DAG files. */
export const BUNDLE = "dags-folder";

/** Records why a file cannot be used; false when that was known. Its dags keep their version and get no new runs. */
export async function recordFailure(db: Database, file: string, message: string): Promise<boolean> {
  // Postgres keeps no zero byte in a text.
  const rows = await db.run(putImportError, [BUNDLE, file, message.replaceAll("\0", "\\0")]);
  return rows.length > 0;
}

/** The name under which the error of a repository that cannot be fetched stands among those of files. */
export const SOURCE_ERROR = "(git)";

/** Says why the files cannot be fetched, or that they can be again; false when that was known. */
export async function recordSourceProblem(db: Database, problem: string | undefined): Promise<boolean> {
  if (problem !== undefined) return await recordFailure(db, SOURCE_ERROR, problem);
  return (await db.run(clearImportError, [BUNDLE, SOURCE_ERROR])).length > 0;
}

/** Marks the dags of all other files than these as stale, and gives back which. */
export async function recordFiles(db: Database, files: readonly string[]): Promise<string[]> {
  const retired = (await db.run(retireFiles, [BUNDLE, [...files, SOURCE_ERROR]])).map(({ dagId }) => dagId);
  if (retired.length > 0) await db.run(activateAssets, []);
  return retired;
}

/** For an error by which Postgres refuses a value, as it does a zero byte in a text: what to tell the author. */
export function refusedByPostgres(error: unknown): string | undefined {
  const code = (error as { code?: unknown } | null)?.code;
  return typeof code === "string" && code.startsWith("22")
    ? `The DAGs of this file cannot be stored: ${messageOf(error)}.`
    : undefined;
}
