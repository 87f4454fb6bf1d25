// `millrace.http`: asks an address until it answers as wished. No answer, and any other answer, is "not yet".
import { isDeepStrictEqual } from "node:util";
import { connectionTarget, mergeHeaders, urlTarget, type HttpTarget } from "@millrace/sdk/runtime";
import type { Json } from "@millrace/sdk/spec";
import { messageOf } from "@millrace/shared/errors";
import type { Secrets } from "@millrace/shared/secrets";
import { connectionOf } from "../connection.ts";
import type { Kwargs } from "../read-kwargs.ts";
import type { SingleKind } from "../polls.ts";
import { GiveUp } from "../trigger.ts";

interface Wait {
  readonly url: string | undefined;
  readonly connectionId: string | undefined;
  readonly path: string;
  readonly method: string;
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | undefined;
  readonly isJson: boolean;
  /** Empty: any 2xx. */
  readonly statuses: readonly number[];
  readonly field: { readonly path: readonly string[]; readonly equals: Json | undefined } | undefined;
  readonly timeoutMs: number;
}

const AT_ONCE = 50;
/** How much of an answer is looked at, and how much of it is kept. */
const MAX_READ_BYTES = 1_048_576;
const MAX_KEPT_BYTES = 65_536;

export const http = (secrets: Secrets): SingleKind<Wait> => ({
  name: "millrace.http",
  atOnce: AT_ONCE,
  read: (kwargs) => ({ wait: readWait(kwargs), pollMs: kwargs.pollMs(60) }),
  look: async (wait, dropped) => {
    const { url, headers, secret } = await targetOf(secrets, wait);
    if (secret !== undefined) secrets.redactor.add(secret);
    const response = await fetch(url, {
      method: wait.method,
      headers,
      ...(wait.body === undefined ? {} : { body: wait.body }),
      signal: AbortSignal.any([dropped, AbortSignal.timeout(wait.timeoutMs)]),
    });
    const { status } = response;
    const isWished = wait.statuses.length === 0 ? response.ok : wait.statuses.includes(status);
    if (!isWished) {
      await response.body?.cancel();
      return undefined;
    }
    const bytes = await beginningOf(response);
    const body = read(bytes);
    if (wait.field !== undefined && !holds(body, wait.field)) return undefined;
    return {
      kind: "event",
      payload: { status, body: bytes.length <= MAX_KEPT_BYTES ? body : textOf(bytes, MAX_KEPT_BYTES) },
    };
  },
});

function readWait(kwargs: Kwargs): Wait {
  const [url, connectionId] = [kwargs.textIfGiven("url"), kwargs.textIfGiven("connectionId")];
  if (url === undefined && connectionId === undefined) kwargs.wrong("url", "a string, unless `connectionId` is one");
  if (url !== undefined && !URL.canParse(url)) kwargs.wrong("url", "an address such as https://example.com/status");
  const [status, body, field] = [kwargs.json("status"), kwargs.json("body"), kwargs.record("field")];
  const statuses = status === undefined ? [] : Array.isArray(status) ? status : [status];
  if (!statuses.every((one): one is number => typeof one === "number")) kwargs.wrong("status", "a number or several");
  const path = field?.["path"];
  const isPath = Array.isArray(path) && path.every((step): step is string => typeof step === "string");
  if (field !== undefined && !isPath) kwargs.wrong("field", "{ path: [names], equals? }");
  const isText = body === undefined || typeof body === "string";
  const headers = Object.entries(kwargs.record("headers") ?? {}).map(([name, value]) => [name, String(value)]);
  return {
    url,
    connectionId,
    path: kwargs.textIfGiven("path") ?? "",
    method: (kwargs.textIfGiven("method") ?? "GET").toUpperCase(),
    headers: Object.fromEntries(headers) as Record<string, string>,
    body: isText ? body : JSON.stringify(body),
    isJson: !isText,
    statuses: statuses as readonly number[],
    field: field === undefined || !isPath ? undefined : { path, equals: field["equals"] },
    timeoutMs: kwargs.number("timeoutSeconds", 30, 0.05, 3_600) * 1000,
  };
}

/** Rejects with GiveUp: asking again could not help. */
async function targetOf(secrets: Secrets, { url, connectionId, path, headers, isJson }: Wait): Promise<HttpTarget> {
  const connection = connectionId === undefined ? undefined : await connectionOf(secrets, connectionId);
  try {
    const target = connection === undefined ? urlTarget(join(url ?? "", path)) : connectionTarget(connection, path);
    const type = isJson ? { "content-type": "application/json" } : {};
    return { ...target, headers: mergeHeaders(type, target.headers, headers) };
  } catch (error) {
    throw new GiveUp("TriggerArguments", messageOf(error));
  }
}

const join = (base: string, path: string): string =>
  path === "" ? base : `${base.replace(/\/$/, "")}/${path.replace(/^\//, "")}`;

async function beginningOf(response: Response): Promise<Buffer> {
  const chunks: Uint8Array[] = [];
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    chunks.push(chunk as Uint8Array); // what the body of a response consists of
    bytes += (chunk as Uint8Array).length;
    // Leaving the loop cancels the rest.
    if (bytes >= MAX_READ_BYTES) break;
  }
  return Buffer.concat(chunks);
}

/** Not cut in the middle of a character, and without what Postgres cannot store. */
const textOf = (bytes: Buffer, length: number): string =>
  new TextDecoder()
    .decode(bytes.subarray(0, length))
    .replace(/\uFFFD+$/, "")
    .replaceAll("\u0000", "");

function read(bytes: Buffer): Json {
  const text = textOf(bytes, bytes.length);
  try {
    return JSON.parse(text) as Json; // what JSON.parse returns is Json
  } catch {
    return text;
  }
}

/** Whether the body has the field: equal to what is wished, or, without a wish, truthy. */
function holds(body: Json, { path, equals }: NonNullable<Wait["field"]>): boolean {
  let value: unknown = body;
  for (const step of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, step)) return false;
    value = (value as Record<string, unknown>)[step];
  }
  return equals === undefined ? Boolean(value) : isDeepStrictEqual(value, equals);
}
