// The one door to variables and connections: each place of secrets.backends_order is asked in its turn, and the first that
// has one gives it. Reading fails where a place fails: the next one could hold an older value.
import type { Config } from "../config/options.ts";
import type { Environment } from "../config/load-config.ts";
import type { Queryable } from "../db/database.ts";
import { hideIn, type Logger } from "../observability/index.ts";
import type { SecretsBackend, SecretsList } from "./backend.ts";
import { customBackend } from "./backends/custom.ts";
import { environmentBackend } from "./backends/environment.ts";
import { localFilesystemBackend } from "./backends/local-filesystem.ts";
import { Cipher } from "./cipher.ts";
import type { Connection } from "./connection-forms.ts";
import { Redactor } from "./redactor.ts";
import { StoredSecrets } from "./stored-secrets.ts";

export interface SecretsOptions {
  readonly db: Queryable;
  readonly config: Pick<Config, "core" | "secrets">;
  readonly log: Logger;
  /** Default: the process's. */
  readonly env?: Environment;
}

export class Secrets {
  /** Those of the database, which alone can be changed. */
  readonly stored: StoredSecrets;
  readonly cipher: Cipher;
  /** Hides what this door gave. */
  readonly redactor: Redactor;
  readonly #log: Logger;
  readonly #backends: readonly SecretsBackend[];

  constructor({ db, config, log, env }: SecretsOptions) {
    const { backends_order, variables_file_path, connections_file_path, backend, backend_kwargs } = config.secrets;
    this.#log = log;
    this.redactor = Redactor.of(config);
    hideIn(log, this.redactor);
    this.cipher = Cipher.of(config);
    this.stored = new StoredSecrets(db, this.cipher, log);
    this.#backends = backends_order.flatMap((place): SecretsBackend[] => {
      switch (place) {
        case "custom":
          return backend === "" ? [] : [customBackend(backend, backend_kwargs)];
        case "environment_variable":
          return [environmentBackend(env)];
        case "local_filesystem":
          return [localFilesystemBackend({ variables: variables_file_path, connections: connections_file_path })];
        default:
          return [this.stored];
      }
    });
  }

  async getVariable(key: string): Promise<string | undefined> {
    const value = await this.#first((backend) => backend.getVariable(key));
    if (value !== undefined) this.redactor.addVariable(key, value);
    return value;
  }

  async getConnection(connectionId: string): Promise<Connection | undefined> {
    const connection = await this.#first((backend) => backend.getConnection(connectionId));
    if (connection !== undefined) this.redactor.addConnection(connection);
    return connection;
  }

  /** Keeps it in the database, and says so when another place hides it there: whoever set it reads something else. */
  async setVariable(key: string, value: string, description?: string): Promise<void> {
    await this.stored.setVariable(key, value, description);
    const place = await this.hiddenBy(key).catch(() => undefined);
    if (place === undefined) return;
    this.#log.warn(
      { variable: key, place },
      "a variable was set in the database, and tasks do not see it: another place has one of that name and is asked first",
    );
  }

  /** The stored ones, read and written within a transaction. */
  within(tx: Queryable): StoredSecrets {
    return new StoredSecrets(tx, this.cipher, this.#log);
  }

  /** The place before the database that has this variable, and so hides what is stored. */
  async hiddenBy(key: string): Promise<string | undefined> {
    for (const backend of this.#backends) {
      if (backend === this.stored) return undefined;
      if ((await backend.getVariable(key)) !== undefined) return backend.name;
    }
    return undefined;
  }

  /** Everything that can be listed; a place that fails is told and left out. */
  async listAll(onTrouble: (place: string, error: unknown) => void): Promise<SecretsList[]> {
    const lists = await Promise.all(
      this.#backends.map(async (backend) => {
        try {
          return backend === this.stored ? await this.#storedList() : await backend.listSecrets?.();
        } catch (error) {
          onTrouble(backend.name, error);
          return undefined;
        }
      }),
    );
    return lists.filter((list) => list !== undefined);
  }

  async #storedList(): Promise<SecretsList> {
    const [variables, connections] = await Promise.all([this.stored.listVariables(), this.stored.listConnections()]);
    return {
      variables: new Map(variables.map(({ key, value }) => [key, value ?? ""])),
      connections,
      problems: [...variables, ...connections].flatMap(({ problem }) => problem ?? []),
    };
  }

  async #first<T>(ask: (backend: SecretsBackend) => Promise<T | undefined>): Promise<T | undefined> {
    for (const backend of this.#backends) {
      const found = await ask(backend);
      if (found !== undefined) return found;
    }
    return undefined;
  }
}
