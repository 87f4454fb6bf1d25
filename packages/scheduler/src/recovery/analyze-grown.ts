// Has Postgres count tables that have grown suddenly: on a new installation, or when a long mapped task was expanded.
import { grownTables, type Database } from "@millrace/shared/db";

const TABLES = ["task_instance", "xcom", "dag_run"];

/** Gives the tables that were counted. What somebody else is counting already is left to them. */
export async function analyzeGrown(db: Database): Promise<readonly string[]> {
  const grown = await db.run(grownTables, [TABLES]);
  for (const { name } of grown) await db.read(`analyze (skip_locked) ${name}`); // a name that Postgres gave, quoted by it
  return grown.map(({ name }) => name);
}
