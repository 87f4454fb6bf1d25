// What users wrote is shown without their secrets: the conf and note of a run, the extra of an event, an error of a file, a
// question, what a callback printed. Values are hidden by what they are and by the name they stand under. The rest of an
// answer is ours, and is not gone through.
import type { Json } from "@millrace/sdk/spec";
import type { KnownSecrets, Redactor } from "@millrace/shared/secrets";
import type { App } from "./app.ts";

const WRITTEN_BY_USERS = new Set([
  "conf",
  "dag_run_conf",
  "note",
  "extra",
  "stack_trace",
  "message",
  "rendered_fields",
  "subject",
  "body",
  "params_input",
  "output",
]);

/** Lists of an answer, and what one of their items holds: no answer has it deeper. */
const MAX_DEPTH = 3;

export function maskAnswers(app: App, known: KnownSecrets): void {
  app.addHook("preSerialization", async (_request, _reply, payload) =>
    hasText(payload, 0) ? mask(payload, await known.redactor(), 0) : payload,
  );
}

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value) && !(value instanceof Date);

const isEmpty = (value: unknown): boolean =>
  value === null || value === undefined || value === "" || (isObject(value) && Object.keys(value).length === 0);

function hasText(value: unknown, depth: number): boolean {
  if (depth > MAX_DEPTH) return false;
  if (Array.isArray(value)) return isObject(value[0]) && value.some((item) => hasText(item, depth + 1));
  if (!isObject(value)) return false;
  return Object.entries(value).some(
    ([key, inner]) => (WRITTEN_BY_USERS.has(key) && !isEmpty(inner)) || hasText(inner, depth + 1),
  );
}

function mask(value: unknown, redactor: Redactor, depth: number): unknown {
  if (depth > MAX_DEPTH) return value;
  if (Array.isArray(value)) return value.map((item: unknown) => mask(item, redactor, depth + 1));
  if (!isObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([key, inner]) => [
      key,
      // What is answered as JSON is JSON.
      WRITTEN_BY_USERS.has(key) ? redactor.redactValue(inner as Json) : mask(inner, redactor, depth + 1),
    ]),
  );
}
