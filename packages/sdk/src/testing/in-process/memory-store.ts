// What tasks of a test run share: XComs, variables and connections in memory. Variables and connections come from the
// environment first, as everywhere; what a task sets is kept for the run and written nowhere.
import type { Json } from "../../spec/index.ts";
import type { ConnectionValue, RunHost, XComKey } from "../../runtime/index.ts";

export interface Lookup {
  readonly variable: (key: string) => string | undefined;
  readonly connection: (connectionId: string) => ConnectionValue | undefined;
}

export class MemoryStore {
  readonly #lookup: Lookup;
  readonly #xcoms = new Map<string, Json>();
  readonly #variables = new Map<string, string | undefined>();

  constructor(lookup: Lookup = { variable: () => undefined, connection: () => undefined }) {
    this.#lookup = lookup;
  }

  getXCom(key: XComKey): Json | undefined {
    return this.#xcoms.get(nameOf(key));
  }

  setXCom(key: XComKey, value: Json): void {
    this.#xcoms.set(nameOf(key), value);
  }

  /** By key. */
  xcomsOf(task: Omit<XComKey, "key">): Record<string, Json> {
    const prefix = nameOf({ ...task, key: "" });
    const own = [...this.#xcoms].filter(([name]) => name.startsWith(prefix));
    return Object.fromEntries(own.map(([name, value]) => [name.slice(prefix.length), value]));
  }

  /** A new try starts without what the one before it left. */
  forget(task: Omit<XComKey, "key">): void {
    const prefix = nameOf({ ...task, key: "" });
    for (const name of this.#xcoms.keys()) if (name.startsWith(prefix)) this.#xcoms.delete(name);
  }

  /** The part of a task's host that is the same for every task. */
  hostOf(signal: AbortSignal, log: RunHost["log"]): RunHost {
    // Async, so that a lookup that throws rejects, as it does across processes.
    return {
      signal,
      log,
      getXCom: async (query) => await Promise.resolve(this.getXCom(query)),
      setXCom: async ({ value, ...key }) => {
        await Promise.resolve(this.setXCom(key, value));
      },
      getVariable: async (key) =>
        await Promise.resolve(this.#variables.has(key) ? this.#variables.get(key) : this.#lookup.variable(key)),
      setVariable: async (key, value) => {
        await Promise.resolve(this.#variables.set(key, value));
      },
      deleteVariable: async (key) => {
        await Promise.resolve(this.#variables.set(key, undefined));
      },
      getConnection: async (connectionId) => await Promise.resolve(this.#lookup.connection(connectionId)),
      triggerDagRun: ({ dagId }) => noOther(`a run of "${dagId}" is not started`),
      getRunState: (dagId) => noOther(`the runs of "${dagId}" are not known`),
      getExternalStates: ({ dagId }) => noOther(`the tasks of "${dagId}" are not known`),
    };
  }
}

const noOther = (what: string): Promise<never> =>
  Promise.reject(new Error(`there is no other DAG while one runs without services, so ${what}`));

const nameOf = ({ dagId, runId, taskId, mapIndex, key }: XComKey): string =>
  `${JSON.stringify([dagId, runId, taskId, mapIndex])} ${key}`;
