import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { AppError, messageOf } from "../../errors/index.ts";
import type { MakeSecretsBackend, SecretsBackend } from "../backend.ts";

/** The backend of `secrets.backend`, loaded when it is first asked. */
export function customBackend(module: string, kwargs: string): SecretsBackend {
  let loading: Promise<SecretsBackend> | undefined;
  const loaded = (): Promise<SecretsBackend> => {
    loading ??= load(module, kwargs);
    // A module that could not be reached may be there the next time.
    loading.catch(() => (loading = undefined));
    return loading;
  };
  return {
    name: "custom",
    getVariable: async (key) => await (await loaded()).getVariable(key),
    getConnection: async (connectionId) => await (await loaded()).getConnection(connectionId),
    listSecrets: async () =>
      (await (await loaded()).listSecrets?.()) ?? { variables: new Map<string, string>(), connections: [] },
  };
}

async function load(module: string, kwargs: string): Promise<SecretsBackend> {
  const wrong = (cause: string) => new AppError("SECRETS_BACKEND_INVALID", { path: module, cause });
  let given: unknown;
  try {
    given = kwargs === "" ? {} : JSON.parse(kwargs);
  } catch {
    throw wrong("secrets.backend_kwargs is not JSON");
  }
  if (typeof given !== "object" || given === null) throw wrong("secrets.backend_kwargs is not an object");
  // A path, or the name of a package.
  const isPath = module.startsWith(".") || module.startsWith("/");
  let exported: unknown;
  try {
    exported = await import(isPath ? pathToFileURL(resolve(module)).href : module);
  } catch (error) {
    throw wrong(messageOf(error));
  }
  const make = (exported as { readonly default?: unknown }).default;
  if (typeof make !== "function") throw wrong("its default export is not a function");
  const backend = await (make as MakeSecretsBackend)(given as Readonly<Record<string, unknown>>);
  if (typeof backend?.getVariable !== "function" || typeof backend.getConnection !== "function") {
    throw wrong("what it makes has no getVariable and getConnection");
  }
  return backend;
}
