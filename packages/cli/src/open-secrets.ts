import type { Secrets } from "@millrace/shared/secrets";
import type { Logger } from "@millrace/shared/observability";
import { withDatabase, type DatabaseWork } from "./actions.ts";
import type { Io } from "./io/io.ts";

export interface SecretsWork extends DatabaseWork {
  readonly secrets: Secrets;
  /** What goes wrong beside the work is noted for the person. */
  readonly log: Logger;
}

/** As `withDatabase`, with the door to variables and connections. */
export async function withSecrets<T>(io: Io, work: (given: SecretsWork) => Promise<T>): Promise<T> {
  return await withDatabase(io, async (given) => {
    const [{ Secrets }, { createLogger }] = await Promise.all([
      import("@millrace/shared/secrets"),
      import("@millrace/shared/observability"),
    ]);
    const destination = { write: (line: string) => io.note((JSON.parse(line) as { readonly msg: string }).msg) };
    const log = createLogger({ level: "warn", name: "cli", destination });
    const env = io.env === undefined ? {} : { env: io.env };
    return await work({ ...given, log, secrets: new Secrets({ ...given, log, ...env }) });
  });
}
