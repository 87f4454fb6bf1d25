import type { Json } from "@millrace/sdk/spec";
import type { Redactor, Secrets } from "@millrace/shared/secrets";
import type { Logger } from "@millrace/shared/observability";
import { withDatabase, type DatabaseWork } from "./actions.ts";
import type { Io, Mask } from "./io/io.ts";

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

export interface MaskedWork extends SecretsWork {
  /** Prints without secrets: values that this installation knows, and what stands under names of secrets. */
  readonly io: Io;
  readonly redactor: Redactor;
}

/** For what users wrote and others may read, as the API masks it: confs, extras, questions, rendered options, logs. */
export async function withMasked<T>(io: Io, work: (given: MaskedWork) => Promise<T>): Promise<T> {
  return await withSecrets(io, async (given) => {
    const { KnownSecrets } = await import("@millrace/shared/secrets");
    const redactor = await new KnownSecrets(given.secrets, given.log).redactor();
    // Rows have dates, too: as JSON they are texts.
    const mask: Mask = (value) =>
      typeof value === "string" || (typeof value === "object" && value !== null && !(value instanceof Date))
        ? redactor.redactValue(JSON.parse(JSON.stringify(value)) as Json)
        : value;
    return await work({ ...given, redactor, io: { ...io, mask, out: (text) => io.out(redactor.redact(text)) } });
  });
}
