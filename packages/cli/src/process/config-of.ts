import { environmentName, loadConfig, type Config } from "@millrace/shared/config";
import { AppError } from "@millrace/shared/errors";
import type { Io } from "../io/io.ts";

/**
 * The configuration of a command.
 * @param needed options without a usable default that the command cannot do without
 * @throws AppError CONFIG_INVALID.
 */
export function configOf(
  io: Io,
  overrides: Readonly<Record<string, unknown>>,
  needed: readonly NeededOption[],
): Config {
  const config = loadConfig({ cwd: io.cwd, overrides, ...(io.env === undefined ? {} : { env: io.env }) });
  const missing = needed.filter((name) => valueOf(config, name) === "");
  if (missing.length > 0) {
    throw new AppError("CONFIG_INVALID", {
      count: missing.length,
      problems: missing
        .map((name) => `  - ${name} is not set: give ${environmentName(...split(name))}=${NEEDED[name]}`)
        .join("\n"),
    });
  }
  return config;
}

const NEEDED = {
  "database.url": "postgres://user:password@host:5432/database",
  "broker.url": "redis://host:6379/0, or postgres to keep the queue in the database",
} as const;
export type NeededOption = keyof typeof NEEDED;

const split = (name: NeededOption): [string, string] => {
  const [section = "", option = ""] = name.split(".");
  return [section, option];
};

const valueOf = (config: Config, name: NeededOption): string =>
  name === "database.url" ? config.database.url : config.broker.url;
