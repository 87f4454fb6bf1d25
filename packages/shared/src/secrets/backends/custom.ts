import { resolve } from "node:path";
import { pathToFileURL } from "node:url";
import { AppError, messageOf } from "../../errors/index.ts";
import type { MakeSecretsBackend, SecretsBackend, SecretsList } from "../backend.ts";
import type { Connection } from "../connection-forms.ts";

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
    getVariable: async (key) => {
      const given: unknown = await (await loaded()).getVariable(key);
      if (given === undefined || given === null) return undefined;
      if (typeof given === "string") return given;
      throw invalid(module, `getVariable("${key}") gave ${kindOf(given)}: it gives a string, or undefined for none`);
    },
    getConnection: async (connectionId) => {
      const given: unknown = await (await loaded()).getConnection(connectionId);
      if (given === undefined || given === null) return undefined;
      const connType: unknown = typeof given === "object" && "connType" in given ? given.connType : undefined;
      // The rest is as its type says, or fails what uses it.
      if (typeof connType === "string") return { ...(given as Connection), connectionId };
      const what = `getConnection("${connectionId}") gave ${kindOf(given)} without a connType`;
      throw invalid(
        module,
        `${what}: it gives { connType, host, login, password, port, schema, extra }, or undefined for none`,
      );
    },
    listSecrets: async () => listOf(module, await (await loaded()).listSecrets?.()),
  };
}

/** Variables in a Map or an object. */
function listOf(module: string, given: unknown): SecretsList {
  if (given === undefined || given === null) return { variables: new Map(), connections: [] };
  const { variables = {}, connections = [] } = given as {
    readonly variables?: unknown;
    readonly connections?: unknown;
  };
  if (typeof variables !== "object" || variables === null || !Array.isArray(connections))
    throw invalid(module, "listSecrets() gives { variables, connections }: a Map or an object of texts, and a list");
  const entries: readonly (readonly unknown[])[] =
    variables instanceof Map ? [...(variables as ReadonlyMap<unknown, unknown>)] : Object.entries(variables);
  return {
    variables: new Map(entries.flatMap(([key, value]) => (typeof value === "string" ? [[String(key), value]] : []))),
    // Only what is secret of them is read.
    connections: connections.filter((one) => typeof one === "object" && one !== null) as Connection[],
  };
}

const kindOf = (value: unknown): string => (Array.isArray(value) ? "a list" : `a value of the type ${typeof value}`);

const invalid = (path: string, cause: string): AppError => new AppError("SECRETS_BACKEND_INVALID", { path, cause });

async function load(module: string, kwargs: string): Promise<SecretsBackend> {
  const wrong = (cause: string) => invalid(module, cause);
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
