import { stat } from "node:fs/promises";
import { AppError, messageOf } from "../../errors/index.ts";
import type { SecretsBackend } from "../backend.ts";
import type { Connection } from "../connection-forms.ts";
import { connectionsOf, readSecretsFile, variablesOf } from "./secrets-file.ts";

export interface SecretsFiles {
  /** Empty: none. */
  readonly variables: string;
  /** Empty: none. */
  readonly connections: string;
}

/** Files of variables and connections. A changed file is read again when something is asked for. */
export function localFilesystemBackend(files: SecretsFiles): SecretsBackend {
  const variables = kept(files.variables, variablesOf);
  const connections = kept<Connection>(files.connections, connectionsOf);
  return {
    name: "local_filesystem",
    getVariable: async (key) => (await variables()).get(key),
    getConnection: async (connectionId) => (await connections()).get(connectionId),
    listSecrets: async () => ({
      variables: await variables(),
      connections: [...(await connections()).values()],
    }),
  };
}

type Contents<T> = ReadonlyMap<string, T>;

function kept<T>(
  path: string,
  read: (content: Readonly<Record<string, unknown>>) => Contents<T>,
): () => Promise<Contents<T>> {
  let stamp = "";
  let contents: Contents<T> = new Map();
  return async () => {
    if (path === "") return contents;
    let now: string;
    try {
      const { mtimeNs, size, ino } = await stat(path, { bigint: true });
      now = `${mtimeNs}/${size}/${ino}`;
    } catch (error) {
      throw new AppError("SECRETS_FILE_INVALID", { path, cause: messageOf(error) });
    }
    if (now !== stamp) {
      contents = read(await readSecretsFile(path));
      stamp = now;
    }
    return contents;
  };
}
