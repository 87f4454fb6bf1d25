// What tasks of a test run share: XComs, variables and connections in memory. Variables and connections come from the
// environment first, as everywhere; what a task sets is kept for the run and written nowhere.
import type { Json } from "../../spec/index.ts";
import type { ConnectionValue, RunHost, SqlRequest, SqlResult, XComKey } from "../../runtime/index.ts";

type Found<T> = T | undefined | Promise<T | undefined>;

export interface Lookup {
  readonly variable: (key: string) => Found<string>;
  readonly connection: (connectionId: string) => Found<ConnectionValue>;
  /** Absent where there is no driver: then statements are refused. */
  readonly runSql?: (
    connection: ConnectionValue,
    request: SqlRequest,
    signal: AbortSignal,
  ) => Promise<readonly SqlResult[]>;
  /** Told what handlers hide with `mask()`. */
  readonly mask?: (secret: Json) => void;
}

export class MemoryStore {
  readonly #lookup: Lookup;
  readonly #xcoms = new Map<string, Json>();
  /** Return values of mapped tasks, by index. */
  readonly #mapped = new Map<string, Map<number, Json>>();
  readonly #variables = new Map<string, string | undefined>();

  constructor(lookup: Lookup = { variable: () => undefined, connection: () => undefined }) {
    this.#lookup = lookup;
  }

  getXCom(key: XComKey): Json | undefined {
    return this.#xcoms.get(nameOf(key));
  }

  /** What the instances of a mapped task returned, in the order of their indexes. */
  mappedValues({ dagId, runId, taskId }: Pick<XComKey, "dagId" | "runId" | "taskId">): readonly Json[] {
    const values = this.#mapped.get(JSON.stringify([dagId, runId, taskId])) ?? new Map<number, Json>();
    return [...values].sort(([a], [b]) => a - b).map(([, value]) => value);
  }

  setXCom(key: XComKey, value: Json): void {
    this.#xcoms.set(nameOf(key), value);
    if (key.mapIndex < 0 || key.key !== "return_value") return;
    const task = JSON.stringify([key.dagId, key.runId, key.taskId]);
    this.#mapped.set(task, (this.#mapped.get(task) ?? new Map<number, Json>()).set(key.mapIndex, value));
  }

  /** By key. */
  xcomsOf(task: Omit<XComKey, "key">): Record<string, Json> {
    const prefix = nameOf({ ...task, key: "" });
    const own = [...this.#xcoms].filter(([name]) => name.startsWith(prefix));
    return Object.fromEntries(own.map(([name, value]) => [name.slice(prefix.length), value]));
  }

  /** A new try starts without what the one before it left. */
  forget(task: Omit<XComKey, "key">): void {
    this.#mapped.get(JSON.stringify([task.dagId, task.runId, task.taskId]))?.delete(task.mapIndex);
    const prefix = nameOf({ ...task, key: "" });
    for (const name of this.#xcoms.keys()) if (name.startsWith(prefix)) this.#xcoms.delete(name);
  }

  /** The part of a task's host that is the same for every task. */
  hostOf(signal: AbortSignal, log: RunHost["log"]): RunHost {
    const { runSql, mask } = this.#lookup;
    // Async, so that a lookup that throws rejects, as it does across processes.
    return {
      signal,
      log,
      ...(mask === undefined ? {} : { mask }),
      getXCom: async (query) => await Promise.resolve(this.getXCom(query)),
      setXCom: async ({ value, ...key }) => {
        await Promise.resolve(this.setXCom(key, value));
      },
      getMappedXComs: async ({ offset, limit, ...task }) =>
        await Promise.resolve(this.mappedValues(task).slice(offset, offset + limit)),
      getVariable: async (key) =>
        await Promise.resolve(this.#variables.has(key) ? this.#variables.get(key) : this.#lookup.variable(key)),
      setVariable: async (key, value) => {
        await Promise.resolve(this.#variables.set(key, value));
      },
      deleteVariable: async (key) => {
        await Promise.resolve(this.#variables.set(key, undefined));
      },
      getConnection: async (connectionId) => await Promise.resolve(this.#lookup.connection(connectionId)),
      ...(runSql === undefined
        ? {}
        : {
            runSql: async (request: SqlRequest) => {
              const connection = await this.#lookup.connection(request.connectionId);
              if (connection === undefined) throw new Error(`there is no connection "${request.connectionId}"`);
              return await runSql(connection, request, signal);
            },
          }),
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
