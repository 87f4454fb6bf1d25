// Where tasks that run in this process find what they ask for: every place of secrets but the database, and databases that
// connections name. What they print is masked as it is everywhere.
import { MemoryStore } from "@millrace/sdk/testing";
import type { Config } from "@millrace/shared/config";
import type { Io } from "../io/io.ts";

export interface InProcess {
  readonly store: MemoryStore;
  /** Prints without what tasks have read of secrets so far. */
  readonly io: Io;
}

export async function openInProcess(io: Io, config: Config): Promise<InProcess> {
  const [{ Secrets }, { createLogger }] = await Promise.all([
    import("@millrace/shared/secrets"),
    import("@millrace/shared/observability"),
  ]);
  const places = config.secrets.backends_order.filter((place) => place !== "metastore");
  const destination = { write: (line: string) => io.note((JSON.parse(line) as { readonly msg: string }).msg) };
  const secrets = new Secrets({
    db: { run: noDatabase },
    config: { ...config, secrets: { ...config.secrets, backends_order: places } },
    log: createLogger({ level: "warn", name: "cli", destination }),
    ...(io.env === undefined ? {} : { env: io.env }),
  });
  const { redactor } = secrets;
  const store = new MemoryStore({
    variable: async (key) => await secrets.getVariable(key),
    connection: async (id) => await secrets.getConnection(id),
    mask: (secret) => redactor.add(secret),
    runSql: async (connection, request, signal) => {
      const { runSql } = await import("@millrace/shared/db");
      return await runSql(connection, request, { maxBytes: config.core.max_xcom_bytes, signal });
    },
  });
  return { store, io: { ...io, out: (text) => io.out(redactor.redact(text)) } };
}

const noDatabase = (): Promise<never> => Promise.reject(new Error("there is no database in a test run"));
