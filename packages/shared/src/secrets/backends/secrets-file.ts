// Variables or connections in a file: an object of JSON or YAML, or lines of an .env file. Also what `import` reads.
import { readFile } from "node:fs/promises";
import { extname } from "node:path";
import { parse as parseYaml } from "yaml";
import { AppError, messageOf } from "../../errors/index.ts";
import { connectionFromObject, readConnection, type Connection } from "../connection-forms.ts";

/** @throws AppError SECRETS_FILE_INVALID */
export async function readSecretsFile(path: string): Promise<Readonly<Record<string, unknown>>> {
  let text: string;
  try {
    text = await readFile(path, "utf8");
  } catch (error) {
    throw invalid(path, messageOf(error));
  }
  return parseSecrets(path, text);
}

/** @throws AppError SECRETS_FILE_INVALID, without quoting what it holds */
export function parseSecrets(path: string, text: string): Readonly<Record<string, unknown>> {
  const kind = extname(path).toLowerCase();
  if (kind === ".env" || path.endsWith("/.env") || path === ".env") return parseEnv(path, text);
  if (![".json", ".yaml", ".yml"].includes(kind)) throw invalid(path, "its name must end in .json, .yaml or .env");
  let value: unknown;
  try {
    value = kind === ".json" ? JSON.parse(text) : parseYaml(text);
  } catch (error) {
    // A parser quotes what is around its mistake, which may be a secret.
    const place = /(line \d+(, column \d+)?|position \d+)/.exec(messageOf(error))?.[0];
    throw invalid(path, `it is not ${kind.slice(1)}${place === undefined ? "" : ` at ${place}`}`);
  }
  if (value === null || value === undefined) return {};
  if (typeof value !== "object" || Array.isArray(value)) throw invalid(path, "it must be an object of names");
  return value as Readonly<Record<string, unknown>>;
}

/** Texts stay as they are, everything else becomes JSON. */
export const variablesOf = (content: Readonly<Record<string, unknown>>): Map<string, string> =>
  new Map(
    Object.entries(content).map(([key, value]) => [key, typeof value === "string" ? value : JSON.stringify(value)]),
  );

interface DescribedVariable {
  readonly value: string;
  readonly description?: string;
}

/** As `variablesOf`, with the form that exports give to a variable with a description: `{ value, description }`. */
export const describedVariablesOf = (
  content: Readonly<Record<string, unknown>>,
): ReadonlyMap<string, DescribedVariable> =>
  new Map(
    Object.entries(content).map(([key, given]) => {
      const described = isDescribed(given) ? given : { value: given, description: null };
      const [[, value = ""] = []] = variablesOf({ [key]: described.value });
      return [key, { value, ...(described.description ? { description: described.description } : {}) }];
    }),
  );

function isDescribed(given: unknown): given is { readonly value: unknown; readonly description?: string | null } {
  if (typeof given !== "object" || given === null || !("value" in given)) return false;
  const { value: _value, description = null, ...more } = given as { readonly value: unknown; description?: unknown };
  return Object.keys(more).length === 0 && (description === null || typeof description === "string");
}

/** @throws AppError CONNECTION_INVALID */
export const connectionsOf = (content: Readonly<Record<string, unknown>>): Map<string, Connection> =>
  new Map(
    Object.entries(content).map(([id, given]) => {
      // Airflow takes a list of one as well.
      const value: unknown = Array.isArray(given) && given.length === 1 ? given[0] : given;
      return [id, typeof value === "string" ? readConnection(id, value) : connectionFromObject(id, value)];
    }),
  );

function parseEnv(path: string, text: string): Record<string, string> {
  const entries = text.split(/\r?\n/).flatMap((line, index): [string, string][] => {
    if (line.trim() === "" || line.trimStart().startsWith("#")) return [];
    const [, name, value = ""] = /^\s*(?:export\s+)?([^=\s]+)\s*=(.*)$/.exec(line) ?? [];
    if (name === undefined) throw invalid(path, `line ${index + 1} is not of the form NAME=value`);
    return [[name, value.trim()]];
  });
  return Object.fromEntries(entries);
}

const invalid = (path: string, cause: string): AppError => new AppError("SECRETS_FILE_INVALID", { path, cause });
