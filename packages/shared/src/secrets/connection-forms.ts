// A connection in the forms in which people write one: Airflow's URI, Airflow's JSON, and that JSON as an object of a
// file. What is wrong is said without quoting the text, which holds a password.
import type { ConnectionValue } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import { AppError } from "../errors/index.ts";

/** A connection with what people write beside it. */
export interface Connection extends ConnectionValue {
  readonly description?: string;
}

const ID = /^[\w#!()\-.:/\\]{1,250}$/;
const EXTRA_KEY = "__extra__";

/** @throws AppError CONNECTION_INVALID */
export function checkConnectionId(connectionId: string): void {
  if (!ID.test(connectionId)) {
    throw invalid(connectionId, "an id has 1 to 250 letters, digits or characters of _ # ! ( ) - . : / \\");
  }
}

/**
 * The URI or the JSON form.
 * @throws AppError CONNECTION_INVALID
 */
export function readConnection(connectionId: string, given: string): Connection {
  const text = given.trim();
  if (!text.startsWith("{")) return fromUri(connectionId, text);
  let value: unknown;
  try {
    value = JSON.parse(text);
  } catch {
    throw invalid(connectionId, "it begins with { and is not JSON");
  }
  return connectionFromObject(connectionId, value);
}

const TEXTS = ["description", "host", "login", "password", "schema"] as const;
const FIELDS = new Set<string>([...TEXTS, "conn_type", "conn_id", "port", "extra"]);

/**
 * The JSON form, already parsed.
 * @throws AppError CONNECTION_INVALID
 */
export function connectionFromObject(connectionId: string, value: unknown): Connection {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(connectionId, "it is neither a URI nor an object");
  }
  const given = value as Readonly<Record<string, unknown>>;
  const unknown = Object.keys(given).filter((name) => !FIELDS.has(name));
  if (unknown.length > 0) {
    throw invalid(connectionId, `it has no field ${unknown.join(", ")}; there are ${[...FIELDS].join(", ")}`);
  }
  const connType = given["conn_type"];
  if (typeof connType !== "string" || connType === "") throw invalid(connectionId, "conn_type must be a text");
  const texts = TEXTS.flatMap((name) => {
    const text = given[name];
    if (text === undefined || text === null || text === "") return [];
    if (typeof text !== "string") throw invalid(connectionId, `${name} must be a text`);
    return [[name, text]];
  });
  const port = portOf(connectionId, given["port"]);
  const extra = extraOf(connectionId, given["extra"]);
  return {
    connectionId,
    connType: normalType(connType),
    ...Object.fromEntries(texts),
    ...(port === undefined ? {} : { port }),
    ...(extra === undefined ? {} : { extra }),
  };
}

/** As an object of a file or of JSON. */
export function connectionToObject(connection: Connection): Record<string, Json> {
  const { connectionId: _id, connType, description, host, login, password, schema, port, extra } = connection;
  const fields = { conn_type: connType, description, host, login, password, schema, port, extra };
  return Object.fromEntries(
    Object.entries(fields).flatMap(([name, value]) => (value === undefined ? [] : [[name, value]])),
  );
}

/** `type://login:password@host:port/schema?key=value`, every part percent-encoded. */
export function connectionToUri({ connType, host = "", login, password, schema, port, extra }: Connection): string {
  const encode = encodeURIComponent;
  const [, protocol, name] = /^([a-z][\w+.-]*):\/\/(.*)$/i.exec(host) ?? [undefined, undefined, host];
  const account =
    login === undefined && password === undefined
      ? ""
      : `${encode(login ?? "")}${password === undefined ? "" : `:${encode(password)}`}@`;
  const address = `${account}${encode(name ?? "")}${port === undefined ? "" : `:${port}`}`;
  const path = schema === undefined ? "" : `/${encode(schema)}`;
  const isFlat = Object.values(extra ?? {}).every((value) => typeof value === "string");
  const pairs = isFlat ? Object.entries(extra ?? {}) : [[EXTRA_KEY, JSON.stringify(extra)]];
  const query = pairs.map(([key, value]) => `${encode(key ?? "")}=${encode(String(value))}`).join("&");
  return [
    `${connType.replaceAll("_", "-")}://`,
    protocol === undefined ? "" : `${protocol}://`,
    address,
    path === "" && query !== "" ? "/" : path,
    query === "" ? "" : `?${query}`,
  ].join("");
}

function fromUri(connectionId: string, given: string): Connection {
  const [, type, rest = ""] = /^([a-z][\w+.-]*):\/\/(.*)$/is.exec(given) ?? [];
  if (type === undefined) throw invalid(connectionId, "it is neither a URI (type://…) nor a JSON object");
  const [, protocol, address = ""] = /^(?:([a-z][\w+.-]*):\/\/)?(.*)$/is.exec(rest) ?? [];
  const [beforeQuery = "", query] = splitAt(address, "?");
  const [authority = "", path] = splitAt(beforeQuery, "/");
  const at = authority.lastIndexOf("@");
  const account = at < 0 ? "" : authority.slice(0, at);
  const [login, password] = splitAt(account, ":");
  const [, host = "", port] = /^(\[[^\]]*\]|[^:]*)(?::(.*))?$/s.exec(authority.slice(at + 1)) ?? [];
  const part = (text: string | undefined): string | undefined => {
    if (text === undefined || text === "") return undefined;
    try {
      return decodeURIComponent(text);
    } catch {
      throw invalid(connectionId, "a part of its URI is not percent-encoded as it should be");
    }
  };
  const name = part(host);
  const values = {
    host: protocol === undefined ? name : `${protocol}://${name ?? ""}`,
    schema: part(path),
    login: part(login),
    password: part(password),
    port: portOf(connectionId, port),
    extra: queryExtra(connectionId, query),
  };
  const present = Object.fromEntries(Object.entries(values).filter(([, value]) => value !== undefined));
  return { connectionId, connType: normalType(type), ...present };
}

function queryExtra(connectionId: string, query: string | undefined): ConnectionValue["extra"] {
  if (query === undefined || query === "") return undefined;
  const pairs = Object.fromEntries(new URLSearchParams(query));
  const whole = pairs[EXTRA_KEY];
  return whole === undefined ? pairs : extraOf(connectionId, whole);
}

function extraOf(connectionId: string, given: unknown): ConnectionValue["extra"] {
  if (given === undefined || given === null || given === "") return undefined;
  let value: unknown = given;
  if (typeof given === "string") {
    try {
      value = JSON.parse(given);
    } catch {
      throw invalid(connectionId, "extra is a text that is not JSON");
    }
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalid(connectionId, "extra must be a JSON object");
  }
  return Object.keys(value).length === 0 ? undefined : (value as Record<string, Json>); // it was parsed from JSON
}

function portOf(connectionId: string, given: unknown): number | undefined {
  if (given === undefined || given === null || given === "") return undefined;
  const port =
    typeof given === "number" ? given : typeof given === "string" && /^\d+$/.test(given) ? Number(given) : -1;
  if (!Number.isInteger(port) || port < 0 || port > 65_535) {
    throw invalid(connectionId, "port must be a number up to 65535");
  }
  return port;
}

const normalType = (type: string): string => {
  const name = type.replaceAll("-", "_");
  return name === "postgresql" ? "postgres" : name;
};

function splitAt(text: string, mark: string): [string | undefined, string | undefined] {
  const at = text.indexOf(mark);
  return at < 0 ? [text, undefined] : [text.slice(0, at), text.slice(at + mark.length)];
}

const invalid = (connectionId: string, cause: string): AppError =>
  new AppError("CONNECTION_INVALID", { connectionId, cause });
