import knex, { type Knex } from "knex";
import { AppError, messageOf } from "../errors/index.ts";
import { withoutPassword } from "../observability/index.ts";
import { isUnavailable, sqlState } from "./failures.ts";
import { guardSql } from "./guard.ts";
import { MIGRATIONS, type Migration } from "./migrations/index.ts";

// Two processes that migrate at once wait for each other on this advisory lock.
const MIGRATION_LOCK = 5_226_121;

class MigrationList {
  getMigrations(): Promise<Migration[]> {
    return Promise.resolve([...MIGRATIONS]);
  }
  getMigrationName(migration: Migration): string {
    return migration.name;
  }
  getMigration(migration: Migration): Promise<Knex.Migration> {
    return Promise.resolve({ up: (db) => migration.up(db), down: () => Promise.resolve() });
  }
}

const silent = (): void => undefined;

const open = (url: string): Knex =>
  knex({
    client: "pg",
    connection: { connectionString: url, application_name: "millrace migrate" },
    pool: { min: 0, max: 2 },
    // What fails is thrown; printed besides, it would stand in a command's output.
    log: { warn: silent, error: silent, deprecate: silent, debug: silent },
    migrations: {
      migrationSource: new MigrationList(),
      tableName: "millrace_migration",
      disableMigrationsListValidation: true,
    },
  });

export interface MigrateResult {
  /** Names of the migrations applied now; empty when the schema was at head. */
  readonly applied: readonly string[];
}

/** Brings the database to this program's schema. Safe to run from several processes at once, and again. */
export async function migrate(url: string, defaults: { defaultPoolSlots?: number } = {}): Promise<MigrateResult> {
  const db = open(url);
  try {
    const trx = await db.transaction();
    // What fails is told by the statement that failed; knex would tell it here again, to nobody.
    trx.executionPromise.catch(() => undefined);
    try {
      const applied = await migrateWithin(trx, url, defaults.defaultPoolSlots ?? 128);
      await trx.commit();
      return { applied };
    } catch (error) {
      await trx.rollback().catch(() => undefined);
      throw error;
    }
  } catch (error) {
    throw asUnreachable(error, url);
  } finally {
    await db.destroy();
  }
}

async function migrateWithin(trx: Knex.Transaction, url: string, defaultPoolSlots: number): Promise<string[]> {
  await trx.raw("select pg_advisory_xact_lock(?)", [MIGRATION_LOCK]);
  await refuseNewer(trx, url);
  const [, applied] = (await trx.migrate.latest()) as [number, string[]];
  await trx.raw(guardSql());
  await trx.raw(
    `insert into slot_pool (pool, slots, description) values ('default_pool', ?, 'Default pool') on conflict (pool) do nothing`,
    [defaultPoolSlots],
  );
  return applied;
}

/** @throws AppError DATABASE_NOT_MIGRATED, DATABASE_TOO_NEW or DATABASE_UNREACHABLE. */
export async function requireSchema(url: string): Promise<void> {
  const db = open(url);
  try {
    const exists = await db.schema.hasTable("millrace_migration");
    if (exists) await refuseNewer(db, url);
    const found = exists ? await db("millrace_migration").pluck<string[]>("name") : [];
    const missing = MIGRATIONS.filter((migration) => !found.includes(migration.name));
    if (missing.length > 0) {
      throw new AppError("DATABASE_NOT_MIGRATED", {
        target: withoutPassword(url),
        found: found.at(-1) ?? "(none)",
        needed: MIGRATIONS.at(-1)?.name ?? "",
      });
    }
  } catch (error) {
    throw asUnreachable(error, url);
  } finally {
    await db.destroy();
  }
}

async function refuseNewer(db: Knex, url: string): Promise<void> {
  if (!(await db.schema.hasTable("millrace_migration"))) return;
  const names = await db("millrace_migration").orderBy("id").pluck<string[]>("name");
  const unknown = names.find((name) => !MIGRATIONS.some((migration) => migration.name === name));
  if (unknown !== undefined) throw new AppError("DATABASE_TOO_NEW", { target: withoutPassword(url), found: unknown });
}

function asUnreachable(error: unknown, url: string): unknown {
  // 28: who asks is not let in; 3D: there is no such database.
  if (!isUnavailable(error) && !/^(28|3D)/.test(sqlState(error) ?? "")) return error;
  const cause = messageOf(error) || String((error as { code?: unknown }).code);
  return new AppError("DATABASE_UNREACHABLE", { target: withoutPassword(url), cause }, { cause: error });
}
