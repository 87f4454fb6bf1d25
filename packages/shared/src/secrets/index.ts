export type { MakeSecretsBackend, SecretsBackend, SecretsList } from "./backend.ts";
export { connectionsOf, describedVariablesOf, readSecretsFile } from "./backends/secrets-file.ts";
export {
  checkConnectionId,
  connectionFromObject,
  connectionToObject,
  connectionToUri,
  readConnection,
  type Connection,
} from "./connection-forms.ts";
export { Cipher } from "./cipher.ts";
export { configRedactor } from "./config-secrets.ts";
export { KnownSecrets } from "./known-secrets.ts";
export type { Redactor } from "./redactor.ts";
export { rotateSecrets, type RotatedSecrets } from "./rotate-secrets.ts";
export { Secrets, type SecretsOptions } from "./secrets.ts";
export { openKept, openWait, sealKept, triggerPlace, waitPlace } from "./wait-secrets.ts";
export { testConnection, type ConnectionTest } from "./test-connection.ts";
export type { StoredConnection, StoredSecrets, StoredVariable, WriteMode } from "./stored-secrets.ts";
