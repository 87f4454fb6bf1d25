// One request, repeated where a repeat can help: the classes of answers decide, and whether the method may be repeated.
import type { NoArguments } from "../authoring/handlers.ts";
import { FailTask } from "../errors/task-signals.ts";
import { anything, boolean, checkOptions, integer, oneOf, seconds, show, type Check } from "../reading/checks.ts";
import { connectionTarget, mergeHeaders, urlTarget } from "../runtime/http-target.ts";
import type { RunScope } from "../runtime/run-scope.ts";
import { sleep } from "../runtime/sleep.ts";
import type { Json } from "../spec/index.ts";
import type { RenderedFields } from "../templates/render-fields.ts";
import { Operator } from "./operator.ts";
import type { PerRun } from "./per-run.ts";
import { orTemplate, textField, textsField } from "./read-fields.ts";

const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"] as const;
/** Doing it twice is doing it once. */
const REPEATABLE = new Set<string>(["GET", "HEAD", "PUT", "DELETE", "OPTIONS"]);
/** "Later", of those that say that the request is wrong. */
const LATER = new Set([408, 425, 429]);

/** An answer, read whole. */
export interface HttpResponse {
  readonly status: number;
  /** Names in lower case. */
  readonly headers: Readonly<Record<string, string>>;
  readonly text: string;
  /** @throws SyntaxError when the text is no JSON */
  json(): Json;
}

/** The options of {@link http}. One of `url` and `connectionId` is needed. Texts are templates. */
export interface HttpOptions<A extends object = NoArguments, R = Json> {
  /** @default "GET" */
  readonly method?: (typeof METHODS)[number];
  readonly url?: PerRun<string, A>;
  /** A connection whose host, port, login, password and `extra` (headers) are used. A template. */
  readonly connectionId?: string;
  /** Appended to the connection's address. */
  readonly endpoint?: PerRun<string, A>;
  readonly headers?: PerRun<Readonly<Record<string, string>>, A>;
  /** Added to the address. */
  readonly query?: PerRun<Readonly<Record<string, string | number | boolean>>, A>;
  /** Text is sent as it is, everything else as JSON. */
  readonly body?: PerRun<Json, A>;
  /** False fails the task, which is then tried again. @default statuses 200 to 299 are good */
  readonly responseCheck?: (response: HttpResponse) => boolean | Promise<boolean>;
  /** Makes the task's value of the answer. @default its JSON, or its text when it is none */
  readonly responseFilter?: (response: HttpResponse) => R | Promise<R>;
  /** Seconds until one request is given up. @default 60 */
  readonly timeout?: number;
  /**
   * How often the request is made within one try of the task, while the server is away (no connection, no answer in time,
   * 5xx) or asks to come back later (408, 425, 429). @default 3; 1 for POST and PATCH, which a repeat could do twice
   */
  readonly attempts?: number;
  /** Seconds before the first repeat, twice as long before each further one. `Retry-After` wins. @default 1 */
  readonly retryDelay?: number;
  /** Seconds; when the server asks for more the try fails instead. @default 60 */
  readonly maxRetryDelay?: number;
  /** The largest answer that is read, in bytes. @default 10 MiB */
  readonly maxResponseBytes?: number;
  /** Write the answer to the task's log. @default false */
  readonly logResponse?: boolean;
}

/** The server is away, asks for later, or its answer is not the expected one: another try can help. */
export class HttpFailed extends Error {
  override readonly name: string = "HttpFailed";
  /** Absent when there was no answer. */
  readonly status: number | undefined;
  /** In how many seconds the server asks to come back, if it does. */
  readonly retryAfter: number | undefined;

  constructor(
    message: string,
    about: { status?: number | undefined; retryAfter?: number | undefined; cause?: unknown },
  ) {
    super(message, about.cause === undefined ? undefined : { cause: about.cause });
    this.status = about.status;
    this.retryAfter = about.retryAfter;
  }
}

/** The server refuses the request (4xx): it would do so again, so no retry of the task is used. */
export class HttpRefused extends FailTask {
  override readonly name: string = "HttpRefused";
  readonly status: number;

  constructor(message: string, status: number) {
    super(message);
    this.status = status;
  }
}

/**
 * Makes an HTTP request; the answer is the task's value. A refusal (4xx) fails the task at once; 408, 425, 429, 5xx and
 * network errors are repeated, and then left to the task's retries. Airflow's `HttpOperator`.
 *
 * @throws HttpRefused, HttpFailed
 * @example `dag.task("rates", http({ url: "https://example.com/rates?day={{ ds }}" }))`
 */
export function http<A extends object = NoArguments, R = Json>(options: HttpOptions<A, R>): Operator<A, R> {
  const { url, endpoint, headers, query, body } = options;
  return new Operator<A, R>({
    name: "http",
    problems: wrongOptions(options),
    fields: {
      url: { value: url },
      connectionId: { value: options.connectionId },
      endpoint: { value: endpoint },
      headers: { value: headers },
      query: { value: query },
      body: { value: body },
    },
    run: async (_inputs, scope, fields) => {
      const response = await requestUntilAnswered(options, await requestOf(options, fields, scope), scope);
      if (options.logResponse === true) scope.host.log("info", response.text);
      if (options.responseCheck !== undefined && !(await options.responseCheck(response))) {
        throw new HttpFailed("responseCheck did not accept the answer", response);
      }
      return options.responseFilter === undefined ? valueOf(response) : await options.responseFilter(response);
    },
  });
}

interface Prepared {
  readonly url: URL;
  readonly init: RequestInit;
  /** As a log may have it: without what could be a secret. */
  readonly title: string;
}

async function requestOf(
  { method = "GET" }: Pick<HttpOptions<never, never>, "method">,
  fields: RenderedFields,
  { client, host }: RunScope,
): Promise<Prepared> {
  const endpoint = fields["endpoint"] === undefined ? "" : textField(fields, "endpoint");
  const target =
    fields["connectionId"] === undefined
      ? urlTarget(textField(fields, "url"))
      : connectionTarget(await client.getConnectionOrThrow(textField(fields, "connectionId")), endpoint);
  if (target.secret !== undefined) host.mask?.(target.secret);
  const { url } = target;
  for (const [key, value] of Object.entries(textsField(fields, "query"))) url.searchParams.append(key, value);
  const body = fields["body"];
  const isText = body === undefined || typeof body === "string";
  const type = isText ? {} : { "content-type": "application/json" };
  const headers = mergeHeaders(type, target.headers, textsField(fields, "headers"));
  const init = {
    method,
    headers,
    ...(body === undefined ? {} : { body: isText ? String(body) : JSON.stringify(body) }),
  };
  return { url, init, title: `${method} ${url.origin}${url.pathname}` };
}

async function requestUntilAnswered(
  options: Pick<
    HttpOptions<never, never>,
    "method" | "timeout" | "attempts" | "retryDelay" | "maxRetryDelay" | "maxResponseBytes" | "responseCheck"
  >,
  request: Prepared,
  { host }: RunScope,
): Promise<HttpResponse> {
  const { method = "GET", retryDelay = 1, maxRetryDelay = 60 } = options;
  const attempts = options.attempts ?? (REPEATABLE.has(method) ? 3 : 1);
  for (let attempt = 1; ; attempt++) {
    const wrong = await answerOnce(options, request, host).catch((error: unknown) => {
      host.signal.throwIfAborted();
      if (error instanceof HttpFailed && attempt < attempts) return error;
      throw error;
    });
    if (!(wrong instanceof HttpFailed)) return wrong;
    const delay = wrong.retryAfter ?? Math.min(maxRetryDelay, retryDelay * 2 ** (attempt - 1));
    if (delay > maxRetryDelay) {
      throw new HttpFailed(`${wrong.message}; it asks to come back in ${delay} s`, wrong);
    }
    host.log("warn", `${wrong.message}: again in ${delay} s (${attempt} of ${attempts})`);
    await sleep(delay, host.signal);
  }
}

async function answerOnce(
  {
    responseCheck,
    timeout = 60,
    maxResponseBytes = 10 * 1024 * 1024,
  }: Pick<HttpOptions<never, never>, "timeout" | "maxResponseBytes" | "responseCheck">,
  { url, init, title }: Prepared,
  host: RunScope["host"],
): Promise<HttpResponse> {
  const deadline = AbortSignal.timeout(timeout * 1000);
  let response: HttpResponse;
  try {
    const answer = await fetch(url, { ...init, signal: AbortSignal.any([host.signal, deadline]) });
    const text = await readText(answer, maxResponseBytes, title);
    const headers = Object.fromEntries(answer.headers);
    const json = (): Json => JSON.parse(text) as Json; // what JSON.parse gives
    response = { status: answer.status, headers, text, json };
  } catch (error) {
    if (error instanceof FailTask) throw error;
    const why = deadline.aborted ? `no answer within ${timeout} s` : causeOf(error);
    throw new HttpFailed(`${title}: ${why}`, { cause: error });
  }
  host.log("info", `${title}: ${response.status}`);
  judge(response, title, responseCheck !== undefined);
  return response;
}

/** What `fetch` throws names the cause only in its cause. */
function causeOf(error: unknown): string {
  const cause: unknown = error instanceof Error && error.cause instanceof Error ? error.cause : error;
  const { message, code } = cause as { readonly message?: unknown; readonly code?: unknown };
  return [code, message].filter((part) => typeof part === "string" && part !== "").join(" ") || "the request failed";
}

/**
 * With a check of its own the task judges every answer but "later" and "away".
 *
 * @throws HttpRefused, HttpFailed
 */
function judge({ status, text, headers }: HttpResponse, title: string, hasCheck: boolean): void {
  if (status >= 200 && status < 300) return;
  const message = `${title}: ${status}${text === "" ? "" : ` ${text.slice(0, 500)}`}`;
  if (status >= 500 || LATER.has(status)) {
    throw new HttpFailed(message, { status, retryAfter: retryAfter(headers["retry-after"]) });
  }
  if (!hasCheck) throw new HttpRefused(message, status);
}

/** Seconds, or a date. */
function retryAfter(header: string | undefined): number | undefined {
  if (header === undefined) return undefined;
  const text = header.trim();
  if (/^\d+$/.test(text)) return Number(text);
  const at = Date.parse(text);
  return Number.isNaN(at) ? undefined : Math.max(0, Math.ceil((at - Date.now()) / 1000));
}

async function readText(answer: Response, maxBytes: number, title: string): Promise<string> {
  const decoder = new TextDecoder();
  let [text, read] = ["", 0];
  for await (const chunk of answer.body ?? []) {
    const bytes = chunk as Uint8Array; // what the body of a response consists of
    read += bytes.length;
    if (read > maxBytes) throw new FailTask(`${title}: the answer has more than ${maxBytes} bytes (maxResponseBytes)`);
    text += decoder.decode(bytes, { stream: true });
  }
  return text + decoder.decode();
}

/** As the default of `responseFilter` says, which is what `R` stands for then. */
function valueOf<R>({ text }: HttpResponse): R {
  const clean = text.replaceAll("\u0000", "");
  try {
    return JSON.parse(clean) as R;
  } catch {
    return clean as R;
  }
}

function wrongOptions(options: Pick<HttpOptions<never, never>, "url" | "connectionId">): readonly string[] {
  const isText = orTemplate((value) =>
    typeof value === "string" && value !== "" ? undefined : `must be a text, got ${show(value)}`,
  );
  const isObject = orTemplate((value) =>
    typeof value === "object" && value !== null && !Array.isArray(value)
      ? undefined
      : `must be an object, got ${show(value)}`,
  );
  const isFunction: Check = (value) =>
    typeof value === "function" ? undefined : `must be a function, got ${show(value)}`;
  const given = [options?.url, options?.connectionId].filter((value) => value !== undefined).length;
  return [
    ...(given === 1 ? [] : ["one of url and connectionId is needed, and not both"]),
    ...checkOptions(options, {
      method: oneOf(METHODS),
      url: isText,
      connectionId: isText,
      endpoint: isText,
      headers: isObject,
      query: isObject,
      body: anything,
      responseCheck: isFunction,
      responseFilter: isFunction,
      timeout: seconds("positive"),
      attempts: integer(1, 100),
      retryDelay: seconds("zero or more"),
      maxRetryDelay: seconds("zero or more"),
      maxResponseBytes: integer(1),
      logResponse: boolean,
    }),
  ];
}
