// Secrets go in and never come out: three stars stand for passwords, for what an extra holds under names of secrets, and
// for the values of variables with such names.
import type { Redactor, StoredConnection, StoredVariable } from "@millrace/shared/secrets";

export const HIDDEN = "***";

export const presentVariable = (variable: StoredVariable, redactor: Redactor) => ({
  key: variable.key,
  value: redactor.isSensitiveName(variable.key) && variable.value !== undefined ? HIDDEN : (variable.value ?? null),
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
