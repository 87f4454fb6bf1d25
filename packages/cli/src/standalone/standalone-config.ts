// The configuration of a standalone: what the user set, with what makes the rest run from one folder.
import { existsSync, readFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { fileURLToPath } from "node:url";
import { OPTIONS, type Config } from "@millrace/shared/config";
import type { StandaloneOptions } from "../commands/standalone.ts";
import type { Io } from "../io/io.ts";
import { configOf } from "../process/config-of.ts";
import { keptSecret } from "./data-folder.ts";

/** DAGs of the examples that start unpaused, so that there is something to see. */
const UNPAUSED = "hello,weather";

/** How long running tasks may take to end after Ctrl-C, before they are handed back: somebody waits. Seconds. */
const DRAIN_SECONDS = 4;

/** Secrets are made at the first start and kept. */
export async function standaloneConfig(
  io: Io,
  options: StandaloneOptions,
  dir: string,
  databaseUrl: string,
): Promise<Config> {
  const given = configOf(io, {}, []);
  const unlessGiven = async (value: string, make: () => Promise<string>) => (value === "" ? await make() : value);
  return configOf(
    io,
    {
      "api.host": options.host,
      "api.port": options.port,
      "database.url": databaseUrl,
      "broker.url": "postgres",
      "core.dags_folder": dagsFolder(io, options, given),
      "core.unpaused_at_creation": given.core.unpaused_at_creation.length > 0 ? undefined : UNPAUSED,
      "workers.graceful_timeout":
        given.workers.graceful_timeout === OPTIONS.workers.graceful_timeout.default ? DRAIN_SECONDS : undefined,
      "workers.artifact_folder": given.workers.artifact_folder === "" ? join(dir, "artifacts") : undefined,
      "logging.base_log_folder": join(dir, "logs"),
      "api_auth.admin_password": await unlessGiven(
        given.api_auth.admin_password,
        async () => await keptSecret(dir, "admin-password", 12),
      ),
      "core.encryption_key": await unlessGiven(
        given.core.encryption_key,
        async () => await keptSecret(dir, "encryption-key", 32),
      ),
      "api_auth.jwt_secret": await unlessGiven(
        given.api_auth.jwt_secret,
        async () => await keptSecret(dir, "jwt-secret", 48),
      ),
    },
    [],
  );
}

function dagsFolder(io: Io, options: StandaloneOptions, given: Config): string {
  if (options.dags !== undefined) return resolve(io.cwd, options.dags);
  const isChosen = given.core.dags_folder !== OPTIONS.core.dags_folder.default;
  const own = resolve(io.cwd, given.core.dags_folder);
  return isChosen || existsSync(own) ? own : (examplesOfCheckout() ?? own);
}

/** Beside `packages/` in a checkout; nothing in an installed package. */
function examplesOfCheckout(): string | undefined {
  const folder = fileURLToPath(new URL("../../../../examples", import.meta.url));
  try {
    const { name } = JSON.parse(readFileSync(join(folder, "package.json"), "utf8")) as { name?: unknown };
    return name === "@millrace/examples" ? folder : undefined;
  } catch {
    return undefined;
  }
}
