// What a bundled DAG file offers to the process that loads it, and what that process offers in return.
// The bundle carries its own copy of the SDK, so this is a wire protocol: change it only by adding
// optional fields, and raise PROTOCOL when an old bundle could not go on.
import type { AssetSpec, Catchup, DagSpec, ExternalState, Json } from "../spec/index.ts";

export type { ExternalState };

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
  /**
   * Runs one trigger of the file, in a triggerer, to its event. Never rejects. Absent in bundles that are older than
   * triggers.
   */
  runTrigger?(request: TriggerRunRequest, host: RunHost): Promise<TriggerOutcome>;
  /** Asks the timetable of a DAG for its next runs. Never throws. Absent in bundles that are older than timetables. */
  planRuns?(request: PlanRequest): PlanAnswer;
  /** Renders the template fields of a task, and runs nothing. Never rejects. Absent in bundles older than templates. */
  render?(request: RunRequest, host: RunHost): Promise<RenderOutcome>;
}

export type RenderOutcome =
  | { readonly kind: "rendered"; readonly fields: Readonly<Record<string, Json>> }
  | { readonly kind: "failed"; readonly error: TaskError };

/** Instants here are milliseconds since the epoch. */
export interface PlannedInterval {
  readonly start: number;
  readonly end: number;
}

export interface PlannedTimetableRun {
  readonly logicalDate: number;
  readonly interval: PlannedInterval;
  readonly runAfter: number;
}

export interface PlanRequest {
  readonly dagId: string;
  /** The interval of the newest run; null when there is none. */
  readonly last: PlannedInterval | null;
  readonly now: number;
  readonly earliest: number | null;
  readonly latest: number | null;
  readonly catchup: Catchup;
  /** How many runs are wanted. */
  readonly count: number;
}

export interface PlanAnswer {
  readonly runs: readonly PlannedTimetableRun[];
  /** What a manual run from an instant on stands for; empty when the timetable does not say. */
  readonly manual: readonly { readonly at: number; readonly interval: PlannedInterval }[];
  /** There is no run after these. */
  readonly ended: boolean;
  /** Why there are no more: a message, with the stack of the bundle. */
  readonly error?: string;
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

/** A wait, as data: which trigger, and with what. */
export interface TriggerSpec {
  /** A built-in trigger (`millrace.…`, run by the triggerer itself) or one that the file defines. */
  readonly name: string;
  readonly kwargs: Readonly<Record<string, Json>>;
  /** Only triggerers that take from this queue run it. Default: those that name no queues. */
  readonly queue?: string;
}

/** What ended a wait, as the resumed task is told. */
export type TriggerEvent =
  | { readonly kind: "event"; readonly payload: Json }
  /** The deferral's own time ran out. */
  | { readonly kind: "timeout" }
  /** The trigger threw, blocked its process, or is missing. */
  | { readonly kind: "failed"; readonly error: TaskError };

export interface TriggerRunRequest {
  readonly triggerId: number;
  readonly trigger: TriggerSpec;
  /** It watches an asset for a DAG: no task waits, and the attempt's task and run are empty. */
  readonly isWatcher?: boolean;
  /** The attempt that waits, without its inputs. */
  readonly attempt: Omit<RunRequest, "inputs" | "waited">;
}

export type TriggerOutcome =
  | { readonly kind: "event"; readonly payload: Json }
  /** Ends the task without a worker. A failure obeys the task's retries. */
  | TriggerEnd
  | { readonly kind: "failed"; readonly error: TaskError };

export interface TriggerEnd {
  readonly kind: "end";
  readonly state: "success" | "failed" | "skipped";
  /** The return value, for `success`. */
  readonly value?: Json;
  readonly message?: string;
  /** For `failed`. Default true. */
  readonly retryable?: boolean;
}

/** A question to people: what `hitl_detail` stores. */
export interface HitlRequest {
  readonly subject: string;
  readonly body?: string;
  readonly options: readonly string[];
  readonly defaults?: readonly string[];
  readonly multiple: boolean;
  /** By name: a JSON Schema with `default`, as the params of a DAG. */
  readonly params: Readonly<Record<string, Json>>;
  readonly assignedUsers: readonly { readonly id: string; readonly name: string }[];
}

/** The payload of the event with which a task that asked people resumes. */
export interface HitlResponse {
  readonly chosenOptions: readonly string[];
  readonly paramsInput: Readonly<Record<string, Json>>;
  readonly respondedAt: string;
  readonly respondedBy: { readonly id: string; readonly name: string } | null;
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
  /** The newest run of the DAG before this one, by logical date, that succeeded; undefined when there is none. */
  getPreviousSuccess?(): Promise<PreviousRun | undefined>;
  /**
   * Runs statements on the database of a connection, which the worker opens: the process that runs the handler has no
   * driver. In one transaction unless `autocommit`.
   */
  runSql?(request: SqlRequest): Promise<readonly SqlResult[]>;
}

/** Instants, ISO 8601. */
export interface PreviousRun {
  readonly dataIntervalStart: string | null;
  readonly dataIntervalEnd: string | null;
  readonly startDate: string | null;
  readonly endDate: string | null;
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

export interface TriggerDagRunRequest {
  readonly dagId: string;
  readonly runId?: string;
  readonly logicalDate?: string | null;
  readonly conf?: Readonly<Record<string, Json>>;
  readonly note?: string;
  /** A run of this id that exists is cleared and runs again. Default false: it is refused. */
  readonly resetDagRun?: boolean;
  /** Refuse when the DAG is paused. Default false: the run waits. */
  readonly failWhenDagIsPaused?: boolean;
}

export interface TriggeredDagRun {
  readonly dagId: string;
  readonly runId: string;
  /** `exists`: there was such a run, and it was left as it is. */
  readonly outcome: "created" | "reset" | "exists";
}

/** Runs of one DAG by logical date or by run id; of them the named tasks, groups, or the runs themselves. */
export interface ExternalStatesQuery {
  readonly dagId: string;
  readonly taskIds?: readonly string[];
  readonly taskGroupId?: string;
  readonly logicalDates?: readonly string[];
  readonly runIds?: readonly string[];
  /**
   * Reject, with a message that says what is missing, when the DAG, a task or the group does not exist. Default false:
   * there are no states of it.
   */
  readonly checkExistence?: boolean;
}

export interface XComKey {
  readonly key: string;
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly mapIndex: number;
}

export interface MappedXComsPage {
  readonly dagId: string;
  readonly runId: string;
  readonly taskId: string;
  readonly offset: number;
  readonly limit: number;
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
      /** Of a task with outlets: the events of this success. Absent: one of each outlet that is an asset or a reference. */
      readonly assetEvents?: readonly OutletEvent[];
    }
  | { readonly kind: "skipped"; readonly message: string }
  | { readonly kind: "failed"; readonly retryable: boolean; readonly error: TaskError }
  /** The task waits for a trigger and holds no worker meanwhile. */
  | {
      readonly kind: "deferred";
      readonly trigger: TriggerSpec;
      /** `resume`: a worker runs the task again with the event. `end`: the event's payload is the task's value. */
      readonly onEvent: "resume" | "end";
      /** Given back with the event. */
      readonly state: Json;
      /** Seconds until the wait is given up; more than 0. */
      readonly timeoutSeconds?: number;
      /** With the trigger `millrace.hitl`: what is asked. */
      readonly hitl?: HitlRequest;
    }
  /** A sensor gives its slot back; it is started again after this, in the same try. */
  | { readonly kind: "rescheduled"; readonly delaySeconds: number };

/** An event of an asset that a task updated. */
export interface OutletEvent {
  /** The asset, or a reference to one; with `alias`, always the asset. */
  readonly asset: AssetSpec | { readonly name?: string; readonly uri?: string };
  readonly alias?: string;
  readonly extra: Readonly<Record<string, Json>>;
  readonly partitionKey?: string;
}

/** An event of an asset, as handlers see it. */
export interface AssetEventData {
  readonly id: number;
  readonly name: string;
  readonly uri: string;
  readonly group: string;
  /** ISO 8601 in UTC. */
  readonly timestamp: string;
  readonly extra: Readonly<Record<string, Json>>;
  readonly sourceDagId: string | null;
  readonly sourceTaskId: string | null;
  readonly sourceRunId: string | null;
  readonly sourceMapIndex: number;
  readonly partitionKey: string | null;
  /** Through which it came. */
  readonly aliases: readonly string[];
}

/** Which asset: a name or a uri of an active one, both for exactly one, or an alias. */
export interface AssetQuery {
  readonly name?: string;
  readonly uri?: string;
  readonly alias?: string;
}

export interface AssetEventsQuery extends AssetQuery {
  /** ISO 8601; events at or after, and at or before. */
  readonly after?: string;
  readonly before?: string;
  readonly limit?: number;
  /** Oldest first. Default true. */
  readonly ascending?: boolean;
}

export interface TaskError {
  readonly name: string;
  readonly message: string;
  /** As V8 gives it: still to be source-mapped by the reader that has the bundle's map. */
  readonly stack?: string;
}
