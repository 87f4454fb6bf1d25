import type { Config } from "@millrace/shared/config";
import { Database, requireSchema } from "@millrace/shared/db";
import { createLogger, type Logger } from "@millrace/shared/observability";

/** They run the same few statements all day, each made for an index. */
const KEEP_PLANS: ReadonlySet<string> = new Set(["scheduler", "worker", "triggerer"]);

export function openDatabase(config: Config, applicationName: string, log: Logger): Database {
  return new Database({
    url: config.database.url,
    applicationName,
    maxConnections: config.database.sql_alchemy_pool_size,
    maxRetries: config.database.max_db_retries,
    keepPlans: KEEP_PLANS.has(applicationName),
    log,
  });
}

/** @throws AppError DATABASE_UNREACHABLE. */
export async function openCheckedDatabase(config: Config, applicationName: string): Promise<Database> {
  const log = createLogger({
    level: config.logging.logging_level === "debug" ? "debug" : "warn",
    name: applicationName,
  });
  const db = openDatabase(config, applicationName, log);
  try {
    await db.check();
  } catch (error) {
    await db.close();
    throw error;
  }
  return db;
}

const MISSING_TABLE_OR_COLUMN = new Set(["42P01", "42703", "3F000"]);

/** What a failed query means when the database was never migrated, or by an older program; else the error itself. */
export async function explainMissingSchema(error: unknown, url: string): Promise<unknown> {
  const code = (error as { code?: unknown } | null)?.code;
  if (typeof code !== "string" || !MISSING_TABLE_OR_COLUMN.has(code)) return error;
  return await requireSchema(url).then(
    () => error,
    (reason: unknown) => reason,
  );
}
