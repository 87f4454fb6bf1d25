// One try of a task instance, as the host gives it to a handler.
import type { Json } from "../../spec/index.ts";
import type { AssetEventData } from "./assets.ts";
import type { TriggerEvent } from "./triggers.ts";

export interface RunRequest {
  readonly dagId: string;
  readonly taskId: string;
  readonly runId: string;
  readonly mapIndex: number;
  readonly tryNumber: number;
  readonly maxTries: number;
  readonly logicalDate: string | null;
  readonly dataIntervalStart: string | null;
  readonly dataIntervalEnd: string | null;
  readonly runAfter: string;
  readonly runType: string;
  readonly conf: Readonly<Record<string, Json>>;
  readonly params: Readonly<Record<string, Json>>;
  /** The handler's argument: literals and upstream values, resolved by the host. A missing value is absent. */
  readonly inputs: Readonly<Record<string, Json>>;
  /** Arguments that are lists of the values of a mapped task, to be read in pages. */
  readonly lazyInputs?: Readonly<Record<string, { readonly taskId: string; readonly length: number }>>;
  /** The largest return value or XCom, in bytes of JSON. Default 1 MiB. */
  readonly maxXComBytes?: number;
  /** The same, where an object store keeps large ones: what goes into Postgres keeps to `maxXComBytes`. */
  readonly maxStoredXComBytes?: number;
  /** False when a later run of the schedule is due already; given to tasks that ask for it. Default true. */
  readonly isLatestRun?: boolean;
  /** For a run by key: which part of the data it is about. */
  readonly partitionKey?: string;
  /** For a run that assets started: the events that it is made of, oldest first. */
  readonly triggeringAssetEvents?: readonly AssetEventData[];
  /** Present when this try has waited before: it was deferred, or gave its slot back between two pokes. */
  readonly waited?: Waited;
}

/** What is known of the waiting of one try. It starts afresh with each new try. */
export interface Waited {
  /** From the first start of this try until now, by the database's clock. */
  readonly seconds: number;
  /** How many pokes of this try have ended in a reschedule. */
  readonly reschedules: number;
  /** Present when the task resumes after a deferral. */
  readonly resumed?: Resumed;
}

export interface Resumed {
  readonly event: TriggerEvent;
  /** What the deferral kept for now. */
  readonly state: Json;
}
