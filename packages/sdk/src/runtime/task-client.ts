import type { Json } from "../spec/index.ts";
import type { ConnectionValue } from "./protocol.ts";

/** Which XCom. What is left out is that of the running task. */
export interface XComQuery {
  /** @default "return_value" */
  readonly key?: string;
  readonly dagId?: string;
  readonly runId?: string;
  readonly taskId?: string;
  /** @default that of the running task for its own XComs, -1 for those of another task */
  readonly mapIndex?: number;
}

/** An XCom to store. What is left out is that of the running task. */
export interface XComEntry extends XComQuery {
  /** 1 to 512 characters. */
  readonly key: string;
  /**
   * As a return value: JSON, dates, bigints, maps, sets and bytes, and at most 1 MiB of JSON unless the installation
   * says otherwise.
   */
  readonly value: unknown;
}

/** Variables, XComs and connections, as the running handler may see them. Returned by {@link getClient}. */
export interface TaskClient {
  /** `undefined` when there is none; values are text. */
  getVariable(key: string): Promise<string | undefined>;
  /** @throws NotFound when there is none */
  getVariableOrThrow(key: string): Promise<string>;
  /** Creates or replaces it. */
  setVariable(key: string, value: string, description?: string): Promise<void>;
  /** Does nothing when there is none. */
  deleteVariable(key: string): Promise<void>;
  /** `undefined` when there is none. The type is what the caller expects; it is not checked. */
  getXCom<T = Json>(query: XComQuery): Promise<T | undefined>;
  /** Creates or replaces it. @throws ValueNotStorable naming what cannot be stored */
  setXCom(entry: XComEntry): Promise<void>;
  /** `undefined` when there is none. Its password is masked in logs. */
  getConnection(connectionId: string): Promise<ConnectionValue | undefined>;
  /** @throws NotFound when there is none */
  getConnectionOrThrow(connectionId: string): Promise<ConnectionValue>;
}

/** A variable or a connection that has to exist does not. */
export class NotFound extends Error {
  override readonly name: string = "NotFound";
}
