// How a connection of the user's becomes one to a Postgres: for the statements of tasks, for sensors, and to try it.
import type { ConnectionValue } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import pg from "pg";

export type ForeignClientConfig = Pick<
  pg.ClientConfig,
  "host" | "port" | "user" | "password" | "database" | "ssl" | "types" | "connectionTimeoutMillis"
>;

const CONNECT_MS = 10_000;

export const foreignClientConfig = (connection: ConnectionValue): ForeignClientConfig => {
  const { host, port, login, password, schema, extra } = connection;
  return {
    ...{ host, port, user: login, password, database: schema },
    ssl: sslOf(extra?.["sslmode"]),
    types,
    connectionTimeoutMillis: CONNECT_MS,
  };
};

function sslOf(mode: Json | undefined): pg.ClientConfig["ssl"] {
  if (mode === undefined || mode === "disable" || mode === "prefer" || mode === "allow") return false;
  return { rejectUnauthorized: mode === "verify-full" || mode === "verify-ca" };
}

const TEXT_ARRAY: number = 1009;
const isoOf = (text: string): string => text.replace(" ", "T");
/** Of dates and times without a zone; the driver would take them for those of this process's zone. */
const WITHOUT_ZONE = new Set([1082, 1114]);
const LISTS_WITHOUT_ZONE = new Set([1182, 1115]);

const types: pg.CustomTypesConfig = {
  getTypeParser: ((oid: number, format?: "text" | "binary") => {
    if (format === "binary") return pg.types.getTypeParser(oid, format);
    if (WITHOUT_ZONE.has(oid)) return isoOf;
    if (LISTS_WITHOUT_ZONE.has(oid))
      return (text: string) => isoInside(pg.types.getTypeParser(TEXT_ARRAY, "text")(text));
    return pg.types.getTypeParser(oid, format);
  }) as typeof pg.types.getTypeParser,
};

const isoInside = (value: unknown): unknown =>
  Array.isArray(value) ? value.map(isoInside) : typeof value === "string" ? isoOf(value) : value;
