// What a bundled DAG file offers to the process that loads it, and what that process offers in return.
// The bundle carries its own copy of the SDK, so this is a wire protocol: change it only by adding
// optional fields, and raise PROTOCOL when an old bundle could not go on.
import type { DagSpec, Json } from "../spec/index.ts";

export const PROTOCOL = 1;

/** The export named `artifact` of every bundled DAG file. */
export interface Artifact {
  readonly protocol: number;
  /** Every DAG that the file constructed. Never runs a handler. */
  dags(): readonly DagReading[];
  /** Runs one handler to its end. Never rejects: whatever goes wrong is in the outcome. */
  run(request: RunRequest, host: RunHost): Promise<TaskOutcome>;
  /**
   * Runs the callbacks of one kind, of a task or of a DAG. Never rejects. Absent in bundles that are older than
   * callbacks.
   */
  runCallback?(request: CallbackRequest, host: RunHost): Promise<CallbackOutcome>;
}

/** A DAG as read, or every reason why it could not be. */
export type DagReading =
  | { readonly dagId: string; readonly spec: DagSpec }
  | { readonly dagId: string; readonly problems: readonly DagProblem[] };

export interface DagProblem {
  readonly message: string;
  /** Where in the user's file, when known: a stack line of the bundle, still to be source-mapped. */
  readonly stack?: string;
}

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
  /** The largest return value or XCom, in bytes of JSON. Default 1 MiB. */
  readonly maxXComBytes?: number;
  /** False when a later run of the schedule is due already; given to tasks that ask for it. Default true. */
  readonly isLatestRun?: boolean;
}

export type TaskCallbackKind = "onSuccess" | "onFailure" | "onRetry" | "onSkipped";
export type DagCallbackKind = "dagOnSuccess" | "dagOnFailure";
export type CallbackKind = TaskCallbackKind | DagCallbackKind;

/** What happened, and to which attempt or run. */
export interface CallbackRequest extends Omit<RunRequest, "taskId" | "inputs"> {
  /** Names the event: the same each time its callbacks are run again. */
  readonly key: string;
  readonly kind: CallbackKind;
  /** Null for a DAG's callback. */
  readonly taskId: string | null;
  /** Why, when it is known. */
  readonly reason: string | null;
  /** For `onFailure` and `onRetry`. */
  readonly error: Pick<TaskError, "name" | "message"> | null;
  readonly runState: string;
}

/** `failed`: some of the functions threw. Each of them was called. */
export type CallbackOutcome =
  { readonly kind: "success" } | { readonly kind: "failed"; readonly errors: readonly TaskError[] };

/** What a running handler can ask of the process that runs it. */
export interface RunHost {
  /** Aborted when the attempt has to stop; `signal.reason` says why. */
  readonly signal: AbortSignal;
  /** One line of the task's log. */
  log(level: "debug" | "info" | "warn" | "error", message: string, fields?: Readonly<Record<string, Json>>): void;
  getXCom(query: XComKey): Promise<Json | undefined>;
  setXCom(entry: XComKey & { readonly value: Json }): Promise<void>;
  getVariable(key: string): Promise<string | undefined>;
  setVariable(key: string, value: string, description?: string): Promise<void>;
  deleteVariable(key: string): Promise<void>;
  getConnection(connectionId: string): Promise<ConnectionValue | undefined>;
  /**
   * A process group that the handler started (`bash`), to be killed by `-pid` should the process that runs the
   * handler die before it could do so itself.
   */
  processGroup?(pid: number, state: "started" | "ended"): void;
}

export interface XComKey {
  readonly key: string;
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
}

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

/** What the run of a branch task decided about its downstream tasks. Stored; clearing a skipped arm skips it again. */
export type BranchDecision =
  /** Only these direct downstream tasks go on; the other direct ones are skipped. */
  | { readonly kind: "follow"; readonly taskIds: readonly string[] }
  /** Every task downstream, at any distance, is skipped, teardowns excepted. */
  | { readonly kind: "skip_all" };

export type TaskOutcome =
  | {
      readonly kind: "success";
      /** Absent when the handler returned `undefined` or the task does not push. */
      readonly returnValue?: Json;
      readonly branch?: BranchDecision;
    }
  | { readonly kind: "skipped"; readonly message: string }
  | { readonly kind: "failed"; readonly retryable: boolean; readonly error: TaskError };

export interface TaskError {
  readonly name: string;
  readonly message: string;
  /** As V8 gives it: still to be source-mapped by the reader that has the bundle's map. */
  readonly stack?: string;
}
