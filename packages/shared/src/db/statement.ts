// One hot statement a unit: text in a named place, run as a prepared statement, with the changes of state it may make.
// A contract test prepares every one on a migrated database and sees that only the declared edges move.

export interface Statement<P extends readonly unknown[], R> {
  readonly name: string;
  /** Edges that it may make, as `from>to` of the model; empty when it writes no state. */
  readonly transitions: readonly string[];
  readonly sql: string;
  /** Never set: carries the types of parameters and rows. */
  readonly types?: { readonly params: P; readonly row: R };
}

const registry = new Map<string, Statement<readonly unknown[], unknown>>();

export function defineStatement<P extends readonly unknown[], R>(definition: {
  readonly name: string;
  readonly transitions?: readonly string[];
  readonly sql: string;
}): Statement<P, R> {
  if (registry.has(definition.name)) throw new Error(`Two statements are named ${definition.name}`);
  const statement: Statement<P, R> = { transitions: [], ...definition };
  registry.set(statement.name, statement);
  return statement;
}

/** Every statement that has been defined: for the contract test. */
export const allStatements = (): readonly Statement<readonly unknown[], unknown>[] => [...registry.values()];
