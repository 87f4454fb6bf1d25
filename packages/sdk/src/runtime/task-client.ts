import type { Json } from "../spec/index.ts";
import type { Asset, AssetRef, AssetUse } from "../assets/asset.ts";
import type { AssetEvent } from "./asset-events.ts";
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

/** An XCom to store, of the running task: whoever names another is refused. */
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
  /** Creates or replaces it. @throws ValueNotStorable naming what cannot be stored; Error for one of another task */
  setXCom(entry: XComEntry): Promise<void>;
  /** `undefined` when there is none. Its password is masked in logs. */
  getConnection(connectionId: string): Promise<NamedConnection | undefined>;
  /** @throws NotFound when there is none */
  getConnectionOrThrow(connectionId: string): Promise<NamedConnection>;
  /**
   * The events of an asset, or those that came through an alias, whether or not it is among the task's `inlets`.
   * Airflow's `inlet_events`.
   */
  getAssetEvents(which: AssetUse, options?: AssetEventsOptions): Promise<readonly AssetEvent[]>;
  /** What tasks keep about an asset from one run to the next, such as how far they have read it. */
  readonly assetStateStore: { forAsset(asset: Asset | AssetRef): AssetState };
}

/** Which events of an asset. */
export interface AssetEventsOptions {
  /** Those at or after this time. */
  readonly after?: Date;
  /** Those at or before this time. */
  readonly before?: Date;
  /** At most so many, 1 to 1,000. @default 100 */
  readonly limit?: number;
  /** Oldest first; the limit counts from there. @default true */
  readonly ascending?: boolean;
}

/** Values by key that belong to an asset and are kept until they are deleted. The last one to set a key wins. */
export interface AssetState {
  /** `undefined` when there is none. The type is what the caller expects; it is not checked. */
  get<T = Json>(key: string): Promise<T | undefined>;
  /** Values are kept as those of XComs. @throws ValueNotStorable naming what cannot be stored */
  set(key: string, value: unknown): Promise<void>;
  /** Does nothing when there is none. */
  delete(key: string): Promise<void>;
}

/** A connection, also under the names that Airflow's TypeScript SDK has for two of its members. */
export interface NamedConnection extends ConnectionValue {
  /** Its `connectionId`. */
  readonly id: string;
  /** Its `connType`. */
  readonly type: string;
}

/** A variable or a connection that has to exist does not. */
export class NotFound extends Error {
  override readonly name: string = "NotFound";
}
