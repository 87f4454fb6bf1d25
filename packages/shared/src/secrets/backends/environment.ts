import { connectionFromEnvironment, namesInEnvironment, variableFromEnvironment } from "../../config/connections.ts";
import type { Environment } from "../../config/load-config.ts";
import type { SecretsBackend } from "../backend.ts";

/** `MILLRACE_VAR_<KEY>` and `MILLRACE_CONN_<ID>` of this process. */
export function environmentBackend(env?: Environment): SecretsBackend {
  return {
    name: "environment_variable",
    getVariable: (key) => Promise.resolve(variableFromEnvironment(key, env)),
    // Async, so that a malformed one rejects.
    getConnection: async (connectionId) => connectionFromEnvironment(connectionId, env),
    listSecrets: () =>
      Promise.resolve({
        variables: new Map(
          namesInEnvironment("variables", env).map((key) => [key, variableFromEnvironment(key, env) ?? ""]),
        ),
        connections: namesInEnvironment("connections", env).flatMap((id) => {
          try {
            return connectionFromEnvironment(id, env) ?? [];
          } catch {
            return [];
          }
        }),
      }),
  };
}
