// Secrets go in and never come out: three stars stand for passwords, for what an extra holds under names of secrets, and
// for the values of variables with such names, or for what stands under them in a variable of JSON. What is sent back as it
// was shown stays as it was.
import type { Json } from "@millrace/sdk/spec";
import type { Redactor, StoredConnection, StoredVariable } from "@millrace/shared/secrets";

export const HIDDEN = "***";

export const presentVariable = (variable: StoredVariable, redactor: Redactor) => ({
  key: variable.key,
  value: variable.value === undefined ? null : shownVariable(variable.key, variable.value, redactor),
  description: variable.description,
  is_encrypted: variable.isEncrypted,
  team_name: null,
});

export const presentConnection = (connection: StoredConnection, redactor: Redactor) => ({
  connection_id: connection.connectionId,
  conn_type: connection.connType,
  description: connection.description ?? null,
  host: connection.host === undefined ? null : redactor.redact(connection.host),
  login: connection.login ?? null,
  schema: connection.schema ?? null,
  port: connection.port ?? null,
  password: connection.password === undefined && !connection.isEncrypted ? null : HIDDEN,
  extra: extraOf(connection, redactor),
  team_name: null,
});

function extraOf({ extra, problem }: StoredConnection, redactor: Redactor): string | null {
  if (extra !== undefined) return JSON.stringify(redactor.redactValue(extra));
  return problem === undefined ? null : HIDDEN;
}

export function shownVariable(key: string, value: string, redactor: Redactor): string {
  if (redactor.isSensitiveName(key)) return HIDDEN;
  const data = parsed(value);
  if (data === undefined) return value;
  const shown = JSON.stringify(redactor.redactValue(data));
  // As it was written, spaces and all, when there is nothing to hide.
  return shown === JSON.stringify(data) ? value : shown;
}

/** The new value of a variable of which `given` is what was sent. */
export function sentVariable(key: string, given: string, before: string, redactor: Redactor): string {
  if (given === HIDDEN || given === shownVariable(key, before, redactor)) return before;
  const [data, known] = [parsed(given), parsed(before)];
  if (data === undefined || known === undefined || !given.includes(HIDDEN)) return given;
  return JSON.stringify(unhide(data, known, redactor));
}

/** Puts back what was hidden of `before`, wherever `given` has it as it was shown. */
export function unhide(given: unknown, before: unknown, redactor: Redactor): unknown {
  if (given === HIDDEN) return before ?? given;
  if (typeof given === "string")
    return typeof before === "string" && redactor.redact(before) === given ? before : given;
  if (typeof given !== "object" || given === null) return given;
  if (Array.isArray(given)) {
    const known: readonly unknown[] = Array.isArray(before) ? before : [];
    return given.map((inner, i) => unhide(inner, known[i], redactor));
  }
  const known: Readonly<Record<string, unknown>> = typeof before === "object" && before !== null ? { ...before } : {};
  return Object.fromEntries(Object.entries(given).map(([key, inner]) => [key, unhide(inner, known[key], redactor)]));
}

/** Undefined for what is no object and no list. */
function parsed(text: string): Json | undefined {
  if (!/^\s*[{[]/.test(text)) return undefined;
  try {
    return JSON.parse(text) as Json; // what JSON.parse gives
  } catch {
    return undefined;
  }
}
