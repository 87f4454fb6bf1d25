import { integer, oneOf, seconds, show, text, type Check } from "../reading/checks.ts";
import { withoutLogin } from "../runtime/http-target.ts";
import type { Json } from "../spec/index.ts";
import { builtIn, oneGiven, POLL_SECONDS } from "./built-in.ts";
import type { Trigger } from "./trigger.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;

/** Which answer to wait for. One of `url` and `connectionId` is needed. */
export interface HttpPollOptions {
  readonly url?: string;
  /** A connection whose host, port, login, password and `extra` (headers) are used. */
  readonly connectionId?: string;
  /** Appended to the connection's address. */
  readonly path?: string;
  /** @default "GET" */
  readonly method?: (typeof METHODS)[number];
  readonly headers?: Readonly<Record<string, string>>;
  /** Text is sent as it is, everything else as JSON. */
  readonly body?: Json;
  /** The answers' status codes that count. @default 200 to 299 */
  readonly status?: readonly number[];
  /** A field of the answer's JSON that has to equal a value, or, without `equals`, to be there and true. */
  readonly field?: { readonly path: readonly string[]; readonly equals?: Json };
  /** Seconds between two requests. @default 60 */
  readonly pollSeconds?: number;
  /** Seconds until one request is given up. @default 30 */
  readonly timeoutSeconds?: number;
}

/** The answer that was waited for. */
export interface HttpPollEvent {
  readonly status: number;
  /** Parsed when it is JSON, else text; cut at 64 KiB. */
  readonly body: Json;
}

const texts: Check = (value) =>
  typeof value === "object" && value !== null && Object.values(value).every((entry) => typeof entry === "string")
    ? undefined
    : `must be an object of strings, got ${show(value)}`;

const url: Check = (value) =>
  typeof value === "string" && /^https?:\/\//i.test(value) && URL.canParse(value)
    ? undefined
    : `must be an http or https URL, got ${show(typeof value === "string" ? withoutLogin(value) : value)}`;

const statuses: Check = (value) =>
  Array.isArray(value) && value.length > 0 && value.every((code) => integer(100, 599)(code) === undefined)
    ? undefined
    : `must be an array of status codes, got ${show(value)}`;

const field: Check = (value) =>
  typeof value === "object" &&
  value !== null &&
  "path" in value &&
  Array.isArray(value.path) &&
  value.path.length > 0 &&
  value.path.every((step) => typeof step === "string")
    ? undefined
    : `must have a path of one or more strings, got ${show(value)}`;

export const HTTP_CHECKS: Readonly<Record<keyof HttpPollOptions, Check>> = {
  url,
  connectionId: text,
  path: text,
  method: oneOf(METHODS),
  headers: texts,
  body: () => undefined, // checked as a kwarg
  status: statuses,
  field,
  pollSeconds: seconds("positive"),
  timeoutSeconds: seconds("positive"),
};

/** What the triggerer, and a sensor that pokes itself, are told. */
export interface HttpKwargs extends HttpPollOptions {
  readonly method: (typeof METHODS)[number];
  readonly headers: Readonly<Record<string, string>>;
  readonly pollSeconds: number;
  readonly timeoutSeconds: number;
}

export function httpKwargs(options: HttpPollOptions): HttpKwargs {
  return {
    ...options,
    method: options.method ?? "GET",
    headers: options.headers ?? {},
    pollSeconds: options.pollSeconds ?? POLL_SECONDS,
    timeoutSeconds: options.timeoutSeconds ?? 30,
  };
}

export function wrongHttp(options: HttpPollOptions): readonly string[] {
  const wrong = oneGiven(options, ["url", "connectionId"]);
  return options.path !== undefined && options.connectionId === undefined
    ? [...wrong, "path needs a connectionId; a url has its own"]
    : wrong;
}

/**
 * Fires when an HTTP request is answered as wished. Answers that are not, and requests that fail, are asked again.
 * Airflow's `HttpSensorTrigger`.
 */
export function httpPoll(options: HttpPollOptions): Trigger<HttpPollEvent> {
  return builtIn(
    "http",
    options,
    HTTP_CHECKS,
    () => httpKwargs(options),
    () => wrongHttp(options),
  );
}
