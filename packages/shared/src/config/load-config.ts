// The only reader of process.env. Environment over file over defaults; every problem is reported at once.
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { AppError, messageOf } from "../errors/index.ts";
import { checkMix } from "./check-mix.ts";
import { OPTIONS, type Config, type OptionDefinition } from "./options.ts";
import { parseOption } from "./parse-option.ts";

export type Environment = Readonly<Record<string, string | undefined>>;

export interface LoadConfigOptions {
  /** Default: the process's environment. */
  readonly env?: Environment;
  /** Folder where `millrace.config.json` is looked for. Default: the current one. */
  readonly cwd?: string;
  /** Values that win over all: those of a command's flags. `section.option` → value. */
  readonly overrides?: Readonly<Record<string, unknown>>;
}

/** Names in the environment: `MILLRACE__SECTION__OPTION`. */
export const environmentName = (section: string, option: string): string =>
  `MILLRACE__${section}__${option}`.toUpperCase();

/**
 * Reads the whole configuration.
 * @throws AppError CONFIG_INVALID naming every problem, with its source and what would be right.
 */
export function loadConfig(options: LoadConfigOptions = {}): Config {
  const env = options.env ?? process.env;
  const problems: string[] = [];
  const file = readConfigFile(options.cwd ?? process.cwd(), problems);
  const sections = OPTIONS as Record<string, Record<string, OptionDefinition>>;

  const config = Object.fromEntries(
    Object.entries(sections).map(([section, entries]) => [
      section,
      Object.fromEntries(
        Object.entries(entries).map(([name, option]) => {
          const sources: [string, unknown][] = [
            [`option ${section}.${name}`, options.overrides?.[`${section}.${name}`]],
            [environmentName(section, name), env[environmentName(section, name)]],
            [`${CONFIG_FILE} ${section}.${name}`, file[section]?.[name]],
          ];
          const found = sources.find(([, value]) => value !== undefined);
          if (found === undefined) return [name, option.default];
          const parsed = parseOption(option, found[1]);
          if ("value" in parsed) return [name, parsed.value];
          const shown = option.type === "string" && option.secret === true ? "***" : JSON.stringify(found[1]);
          problems.push(`${found[0]} is ${shown}: ${parsed.problem}`);
          return [name, option.default];
        }),
      ),
    ]),
  ) as Config;

  problems.push(...unknownNames(sections, env, file), ...checkMix(config));
  if (problems.length > 0) {
    throw new AppError("CONFIG_INVALID", {
      count: problems.length,
      problems: problems.map((p) => `  - ${p}`).join("\n"),
    });
  }
  return config;
}

const CONFIG_FILE = "millrace.config.json";

function readConfigFile(cwd: string, problems: string[]): Record<string, Record<string, unknown>> {
  const path = join(cwd, CONFIG_FILE);
  if (!existsSync(path)) return {};
  let content: unknown;
  try {
    content = JSON.parse(readFileSync(path, "utf8"));
  } catch (error) {
    // JSON.parse quotes what is around its mistake, which may be a secret.
    const cause = messageOf(error).replace(/, (\.\.\.)?"[\s\S]*"(\.\.\.)? is not valid JSON$/, "");
    problems.push(`${path} cannot be read as JSON: ${cause}`);
    return {};
  }
  if (!isObject(content)) {
    problems.push(`${path} must be an object with a section for each of its keys`);
    return {};
  }
  const sections = Object.entries(content);
  for (const [section, options] of sections) {
    if (!isObject(options))
      problems.push(`${CONFIG_FILE} ${section} must be an object with an option for each of its keys`);
  }
  return Object.fromEntries(sections.filter((entry): entry is [string, Record<string, unknown>] => isObject(entry[1])));
}

const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

function unknownNames(
  sections: Record<string, Record<string, OptionDefinition>>,
  env: Environment,
  file: Record<string, Record<string, unknown>>,
): string[] {
  const known = new Set(
    Object.entries(sections).flatMap(([section, entries]) =>
      Object.keys(entries).map((name) => environmentName(section, name)),
    ),
  );
  const fromEnvironment = Object.keys(env).filter((name) => name.startsWith("MILLRACE__") && !known.has(name));
  const fromFile = Object.entries(file).flatMap(([section, entries]) =>
    Object.keys(entries)
      .filter((name) => sections[section]?.[name] === undefined)
      .map((name) => `${CONFIG_FILE} ${section}.${name}`),
  );
  return [...fromEnvironment, ...fromFile].map((name) => `${name} is not an option of Millrace`);
}
