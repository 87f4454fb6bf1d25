import type { ConnectionValue } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import type { Environment } from "./load-config.ts";

/** A connection given as `MILLRACE_CONN_<ID>`, in Airflow's URI or JSON form. */
export function connectionFromEnvironment(
  connectionId: string,
  env: Environment = process.env,
): ConnectionValue | undefined {
  const given = env[`MILLRACE_CONN_${connectionId.toUpperCase()}`];
  if (given === undefined) return undefined;
  return given.trimStart().startsWith("{") ? fromJson(connectionId, given) : fromUri(connectionId, given);
}

/** Gives a connection to this process and those it starts, as its environment would; one that is set already stays. */
export function provideConnection(connectionId: string, uri: string): void {
  process.env[`MILLRACE_CONN_${connectionId.toUpperCase()}`] ??= uri;
}

/** A variable given as `MILLRACE_VAR_<KEY>`. */
export const variableFromEnvironment = (key: string, env: Environment = process.env): string | undefined =>
  env[`MILLRACE_VAR_${key.toUpperCase()}`];

function fromJson(connectionId: string, given: string): ConnectionValue {
  const { conn_type, ...rest } = JSON.parse(given) as { conn_type: string } & Omit<
    ConnectionValue,
    "connType" | "connectionId"
  >;
  return { connectionId, connType: conn_type, ...rest };
}

function fromUri(connectionId: string, given: string): ConnectionValue {
  const url = new URL(given);
  const type = url.protocol.slice(0, -1).replaceAll("-", "_");
  const extra: Record<string, Json> = Object.fromEntries(url.searchParams);
  const part = (value: string) => (value === "" ? undefined : decodeURIComponent(value));
  const values = {
    host: part(url.hostname),
    schema: part(url.pathname.slice(1)),
    login: part(url.username),
    password: part(url.password),
    port: url.port === "" ? undefined : Number(url.port),
    extra: Object.keys(extra).length > 0 ? extra : undefined,
  };
  const given_ = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  return { connectionId, connType: type === "postgresql" ? "postgres" : type, ...given_ };
}
