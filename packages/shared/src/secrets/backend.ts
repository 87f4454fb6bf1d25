import type { Connection } from "./connection-forms.ts";

/**
 * A place where variables and connections come from. Asked by workers, triggerers, the API and the command line, each
 * time one is needed; what it throws fails only what asked. `undefined` means: ask the next one.
 */
export interface SecretsBackend {
  /** For messages and logs. */
  readonly name: string;
  getVariable(key: string): Promise<string | undefined>;
  getConnection(connectionId: string): Promise<Connection | undefined>;
  /** Everything that it can list, so that it can be masked before anybody has asked for it. */
  listSecrets?(): Promise<SecretsList>;
}

export interface SecretsList {
  readonly variables: ReadonlyMap<string, string>;
  readonly connections: readonly Connection[];
  /** Why some of it could not be read, and so cannot be masked. */
  readonly problems?: readonly string[];
}

/**
 * What the module named by `secrets.backend` exports as `default`.
 * @param kwargs the object of `secrets.backend_kwargs`
 */
export type MakeSecretsBackend = (
  kwargs: Readonly<Record<string, unknown>>,
) => SecretsBackend | Promise<SecretsBackend>;
