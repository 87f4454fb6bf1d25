// What most commands do around their work. Light on purpose: the database and the rest are imported when a command runs.
import type { Config } from "@millrace/shared/config";
import type { Database } from "@millrace/shared/db";
import type { Io } from "./io/io.ts";

export interface DatabaseWork {
  readonly db: Database;
  readonly config: Config;
}

/** Opens the database for one piece of work and closes it, with the errors that people can act on. */
export async function withDatabase<T>(io: Io, work: (given: DatabaseWork) => Promise<T>): Promise<T> {
  const [{ configOf }, { openCheckedDatabase, explainMissingSchema }] = await Promise.all([
    import("./process/config-of.ts"),
    import("./process/open-database.ts"),
  ]);
  const config = configOf(io, {}, ["database.url"]);
  const db = await openCheckedDatabase(config, "cli");
  try {
    return await work({ db, config });
  } catch (error) {
    throw await explainMissingSchema(error, db.url);
  } finally {
    await db.close();
  }
}
