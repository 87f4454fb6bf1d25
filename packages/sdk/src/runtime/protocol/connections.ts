// Connections, and statements on the databases behind them.
import type { Json } from "../../spec/index.ts";

export interface ConnectionValue {
  readonly connectionId: string;
  readonly connType: string;
  readonly host?: string;
  readonly schema?: string;
  readonly login?: string;
  readonly password?: string;
  readonly port?: number;
  readonly extra?: Readonly<Record<string, Json>>;
}

export interface SqlRequest {
  readonly connectionId: string;
  readonly statements: readonly { readonly sql: string; readonly params: readonly Json[] }[];
  /** Each statement by itself. Default false: all of them or none. */
  readonly autocommit?: boolean;
  /** Seconds that each statement may take. */
  readonly timeoutSeconds?: number;
  /** The most rows of one statement; with more of them the task fails. */
  readonly maxRows?: number;
}

export interface SqlResult {
  readonly columns: readonly string[];
  readonly rows: readonly (readonly Json[])[];
  /** How many rows the statement gave or changed; null for one that does neither. */
  readonly rowCount: number | null;
}
