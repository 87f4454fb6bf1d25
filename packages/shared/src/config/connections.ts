import { readConnection, type Connection } from "../secrets/connection-forms.ts";
import type { Environment } from "./load-config.ts";

/**
 * A connection given as `MILLRACE_CONN_<ID>`, in Airflow's URI or JSON form.
 * @throws AppError CONNECTION_INVALID
 */
export function connectionFromEnvironment(
  connectionId: string,
  env: Environment = process.env,
): Connection | undefined {
  const given = env[`MILLRACE_CONN_${connectionId.toUpperCase()}`];
  return given === undefined ? undefined : readConnection(connectionId, given);
}

/** Gives a connection to this process and those it starts, as its environment would; one that is set already stays. */
export function provideConnection(connectionId: string, uri: string): void {
  process.env[`MILLRACE_CONN_${connectionId.toUpperCase()}`] ??= uri;
}

/** A variable given as `MILLRACE_VAR_<KEY>`. */
export const variableFromEnvironment = (key: string, env: Environment = process.env): string | undefined =>
  env[`MILLRACE_VAR_${key.toUpperCase()}`];

const PREFIXES = { connections: "MILLRACE_CONN_", variables: "MILLRACE_VAR_" } as const;

/** What the environment gives of one kind, by name in lower case: names there have no case of their own. */
export function namesInEnvironment(kind: keyof typeof PREFIXES, env: Environment = process.env): string[] {
  const prefix = PREFIXES[kind];
  return Object.keys(env).flatMap((name) => (name.startsWith(prefix) ? [name.slice(prefix.length).toLowerCase()] : []));
}
