// What the process that loads a bundled DAG file offers to its handlers.
import type { ExternalState, Json } from "../../spec/index.ts";
import type { AssetEventData, AssetEventsQuery, AssetQuery } from "./assets.ts";
import type { ConnectionValue, SqlRequest, SqlResult } from "./connections.ts";
import type { ExternalStatesQuery, PreviousRun, TriggerDagRunRequest, TriggeredDagRun } from "./other-runs.ts";
import type { MappedXComsPage, XComKey } from "./xcoms.ts";

/** What a running handler can ask of the process that runs it. */
export interface RunHost {
  /** Aborted when the attempt has to stop; `signal.reason` says why. */
  readonly signal: AbortSignal;
  /** One line of the task's log. */
  log(level: "debug" | "info" | "warn" | "error", message: string, fields?: Readonly<Record<string, Json>>): void;
  /** Hides a value in every log of the installation's process that writes this task's, from the next line on. */
  mask?(secret: Json): void;
  getXCom(query: XComKey): Promise<Json | undefined>;
  setXCom(entry: XComKey & { readonly value: Json }): Promise<void>;
  /** Values of the instances of a mapped task, in the order of their indexes. */
  getMappedXComs?(page: MappedXComsPage): Promise<readonly Json[]>;
  getVariable(key: string): Promise<string | undefined>;
  setVariable(key: string, value: string, description?: string): Promise<void>;
  deleteVariable(key: string): Promise<void>;
  getConnection(connectionId: string): Promise<ConnectionValue | undefined>;
  /**
   * A process group that the handler started (`bash`), to be killed by `-pid` should the process that runs the
   * handler die before it could do so itself.
   */
  processGroup?(pid: number, state: "started" | "ended"): void;
  /** Starts a run. The same `runId` for the same try: a repeat finds the run that it made. */
  triggerDagRun?(request: TriggerDagRunRequest): Promise<TriggeredDagRun>;
  /** The state of a run; undefined when there is none. */
  getRunState?(dagId: string, runId: string): Promise<string | undefined>;
  /** How many of the watched things are in which state: what an external-task sensor asks. */
  getExternalStates?(query: ExternalStatesQuery): Promise<readonly ExternalState[]>;
  getAssetEvents?(query: AssetEventsQuery): Promise<readonly AssetEventData[]>;
  /** What tasks keep about an asset, by key; undefined when there is nothing. Rejects when there is no such asset. */
  getAssetState?(asset: AssetQuery, key: string): Promise<Json | undefined>;
  setAssetState?(asset: AssetQuery, key: string, value: Json): Promise<void>;
  deleteAssetState?(asset: AssetQuery, key: string): Promise<void>;
  /** The template fields of the attempt as they are rendered, to be shown to people. */
  setRenderedFields?(fields: Readonly<Record<string, Json>>): Promise<void>;
  /** How a mapped instance is shown in place of its index. */
  setMapIndexLabel?(label: string): Promise<void>;
  /** The newest run of the DAG before this one, by logical date, that succeeded; undefined when there is none. */
  getPreviousSuccess?(): Promise<PreviousRun | undefined>;
  /**
   * Runs statements on the database of a connection, which the worker opens: the process that runs the handler has no
   * driver. In one transaction unless `autocommit`.
   */
  runSql?(request: SqlRequest): Promise<readonly SqlResult[]>;
}
