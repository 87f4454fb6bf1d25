// One request of a sensor that asks from within its own process.
import { connectionTarget, mergeHeaders, urlTarget } from "../runtime/http-target.ts";
import type { TaskClient } from "../runtime/task-client.ts";
import type { Json } from "../spec/index.ts";
import type { HttpKwargs, HttpPollEvent } from "../triggers/http-poll.ts";

/** How much of an answer is looked at, and how much of it is kept; in bytes. */
const MAX_READ = 1024 * 1024;
const MAX_KEPT = 64 * 1024;

/** The answer, when it is the one that is waited for. */
export async function requestOnce(
  asked: HttpKwargs,
  client: TaskClient,
  signal: AbortSignal,
): Promise<HttpPollEvent | undefined> {
  const target =
    asked.connectionId === undefined
      ? urlTarget(String(asked.url))
      : connectionTarget(await client.getConnectionOrThrow(asked.connectionId), asked.path);
  const isText = asked.body === undefined || typeof asked.body === "string";
  const response = await fetch(target.url, {
    method: asked.method,
    headers: mergeHeaders(isText ? {} : { "content-type": "application/json" }, target.headers, asked.headers ?? {}),
    ...(asked.body === undefined ? {} : { body: isText ? String(asked.body) : JSON.stringify(asked.body) }),
    signal: AbortSignal.any([signal, AbortSignal.timeout(asked.timeoutSeconds * 1000)]),
  });
  const text = await readText(response);
  const isWanted = asked.status === undefined ? response.ok : asked.status.includes(response.status);
  const body = parse(text);
  if (!isWanted || (asked.field !== undefined && !matches(body, asked.field))) return undefined;
  const bytes = Buffer.from(text);
  return { status: response.status, body: bytes.length <= MAX_KEPT ? body : cut(bytes) };
}

async function readText(response: Response): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let read = 0;
  for await (const chunk of response.body ?? []) {
    const bytes = chunk as Uint8Array; // what the body of a response consists of
    text += decoder.decode(bytes, { stream: true });
    read += bytes.length;
    if (read >= MAX_READ) break;
  }
  return text.replaceAll("\u0000", "");
}

function parse(text: string): Json {
  try {
    return JSON.parse(text) as Json; // what JSON.parse returns is Json
  } catch {
    return text;
  }
}

/** Not in the middle of a character. */
const cut = (bytes: Buffer): string => new TextDecoder().decode(bytes.subarray(0, MAX_KEPT)).replace(/\uFFFD+$/, "");

function matches(body: Json, { path, equals }: NonNullable<HttpKwargs["field"]>): boolean {
  let at: Json | undefined = body;
  for (const step of path) {
    if (typeof at !== "object" || at === null || !Object.hasOwn(at, step)) return false;
    at = (at as Readonly<Record<string, Json>>)[step]; // just seen to have it
  }
  return equals === undefined ? Boolean(at) : isSame(at, equals);
}

/** Two values of JSON; the order of an object's keys does not matter. */
function isSame(a: Json | undefined, b: Json): boolean {
  if (typeof a !== "object" || a === null || typeof b !== "object" || b === null) return a === b;
  const [left, right] = [Object.entries(a), Object.entries(b)];
  return (
    Array.isArray(a) === Array.isArray(b) &&
    left.length === right.length &&
    right.every(([key, value]) => Object.hasOwn(a, key) && isSame((a as Readonly<Record<string, Json>>)[key], value))
  );
}
