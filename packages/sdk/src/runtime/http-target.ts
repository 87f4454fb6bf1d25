// Where a request goes and what it says of itself, from a URL or a connection: one rule for the operator, the sensor in
// each of its modes, and the test of a connection.
import type { ConnectionValue } from "./protocol.ts";

type Texts = Readonly<Record<string, string>>;

/** An address without login and password, and the headers that carry them. */
export interface HttpTarget {
  readonly url: URL;
  readonly headers: Texts;
  /** What stood in the address and must not be shown. */
  readonly secret?: string;
}

/** What Airflow takes out of an `extra` for its client: not for the server. */
const NO_HEADERS = new Set([
  ...["allow_redirects", "cert", "check_response", "max_redirects", "proxies", "proxy", "stream", "timeout"],
  ...["trust_env", "verify"],
]);

/**
 * A URL; `fetch` refuses those with a login in them, so that becomes a header.
 * @throws TypeError, without the login, when it is no http or https URL
 */
export function urlTarget(text: string): HttpTarget {
  if (!/^https?:\/\//i.test(text) || !URL.canParse(text)) {
    throw new TypeError(`the address must be an http or https URL, got ${JSON.stringify(withoutLogin(text))}`);
  }
  const url = new URL(text);
  const [login, password] = [decoded(url.username), decoded(url.password)];
  url.username = url.password = "";
  if (login === "" && password === "") return { url, headers: {} };
  return { url, headers: basic(login, password), secret: password === "" ? login : password };
}

/**
 * The address of a connection with a path on it, its login as basic authentication, and the texts of its extra as headers.
 * The scheme is in the host, or is the schema, or is the type, else http.
 * @throws TypeError when it has no host, or no address comes of it
 */
export function connectionTarget(connection: ConnectionValue, path = ""): HttpTarget {
  const { connectionId, connType, host, schema = "", port, login, password, extra = {} } = connection;
  if (host === undefined || host === "") throw new TypeError(`connection "${connectionId}" has no host`);
  const isScheme = schema === "http" || schema === "https";
  const scheme = isScheme ? schema : connType === "https" ? "https" : "http";
  const hasScheme = host.includes("://");
  const base = urlTarget(hasScheme ? host : `${scheme}://${host}`);
  if (port !== undefined) base.url.port = String(port);
  const folder = hasScheme || isScheme || schema === "" ? "" : `/${schema}`;
  const href = `${base.url.href.replace(/\/$/, "")}${folder}`;
  const texts = Object.entries(extra).filter(([name]) => !NO_HEADERS.has(name));
  return {
    ...base,
    url: new URL(path === "" ? href : `${href.replace(/\/$/, "")}/${path.replace(/^\//, "")}`),
    headers: mergeHeaders(
      base.headers,
      login === undefined && password === undefined ? {} : basic(login ?? "", password ?? ""),
      Object.fromEntries(texts.flatMap(([name, value]) => (typeof value === "string" ? [[name, value]] : []))),
    ),
  };
}

/**
 * Later ones win, however their names are written.
 * @throws TypeError that names a header that cannot be sent, without its value
 */
export function mergeHeaders(...layers: readonly Texts[]): Record<string, string> {
  const merged = new Headers();
  for (const [name, value] of layers.flatMap((layer) => Object.entries(layer))) {
    try {
      merged.set(name, value);
    } catch {
      throw new TypeError(
        `header ${JSON.stringify(name)} cannot be sent: its name or its value has a character that headers cannot have, such as a line break`,
      );
    }
  }
  return Object.fromEntries(merged);
}

/** An address as people may see it. */
export const withoutLogin = (text: string): string => text.replace(/\/\/[^/?#]*@/, "//***@");

const basic = (login: string, password: string): Texts => ({
  authorization: `Basic ${Buffer.from(`${login}:${password}`, "utf8").toString("base64")}`,
});

function decoded(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text; // a percent sign that was meant as one
  }
}
