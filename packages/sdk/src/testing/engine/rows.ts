// The tables of the in-memory store. A row keeps its committed version, and beside it the version that the transaction
// which has its lock wrote. Versions are never changed, only replaced. Instants are milliseconds since the epoch.
import type { BranchDecision } from "../../runtime/protocol.ts";
import type { DagGraph, Interval, PlannedRun, RunState, RunType, TaskNode, TaskState } from "@millrace/shared/model";
import type { Transaction } from "./transaction.ts";

export interface Lockable {
  lockedBy: Transaction | undefined;
}

export interface Row<V> extends Lockable {
  committed: V;
  /** What the owner of the lock wrote; undefined: nothing yet. */
  written: V | undefined;
}

/** A version that its transaction is still making. */
export type Draft<V> = { -readonly [K in keyof V]: V[K] };

export interface DagVersion {
  readonly isPaused: boolean;
  /** The run that its schedule asks for next. */
  readonly pointer: PlannedRun | undefined;
}

export interface DagRow extends Row<DagVersion> {
  readonly dagId: string;
  readonly graph: DagGraph;
  readonly maxActiveRuns: number;
  readonly maxActiveTasks: number;
  /** Queued and running ones, by their committed versions; in the order of their creation. */
  readonly activeRuns: Set<RunRow>;
  /** Those with a logical date, by it. */
  readonly runsByDate: RunRow[];
  readonly runIds: Map<string, RunRow>;
}

export interface RunVersion {
  readonly state: RunState;
  readonly reason: string | undefined;
  readonly startDate: number | undefined;
  readonly endDate: number | undefined;
  readonly lastDecision: number | undefined;
}

export interface RunRow extends Row<RunVersion> {
  readonly id: number;
  readonly dag: DagRow;
  readonly runId: string;
  readonly runType: RunType;
  readonly logicalDate: number | null;
  readonly interval: Interval | null;
  readonly runAfter: number;
  readonly createdAt: number;
  readonly tasks: readonly TaskRow[];
}

export interface TaskVersion {
  /** Names one attempt. */
  readonly id: number;
  readonly epoch: number;
  readonly state: TaskState;
  readonly tryNumber: number;
  readonly maxTries: number;
  readonly infraFailures: number;
  readonly branchDecision: BranchDecision | null;
  readonly mark: "success" | "failed" | "skipped" | undefined;
  readonly reason: string | undefined;
  readonly retryAt: number | undefined;
  readonly scheduledAt: number | undefined;
  readonly queuedAt: number | undefined;
  /** When its message was last sent. */
  readonly sentAt: number | undefined;
  readonly startDate: number | undefined;
  readonly endDate: number | undefined;
  readonly heartbeat: number | undefined;
  readonly worker: number | undefined;
  readonly token: number | undefined;
  /** It has waited, and goes on: its start stays. */
  readonly resumes: boolean;
}

export interface TaskRow extends Row<TaskVersion> {
  readonly rowId: number;
  readonly run: RunRow;
  readonly node: TaskNode;
  readonly taskId: string;
  readonly mapIndex: number;
}

export const NEW_RUN: RunVersion = {
  state: "queued",
  reason: undefined,
  startDate: undefined,
  endDate: undefined,
  lastDecision: undefined,
};

/** What a new attempt starts without. */
export const FRESH_ATTEMPT = {
  branchDecision: null,
  mark: undefined,
  scheduledAt: undefined,
  queuedAt: undefined,
  sentAt: undefined,
  heartbeat: undefined,
  worker: undefined,
  token: undefined,
  resumes: false,
} as const;

/** Every field in its place: what is copied with each change is then one block of memory. */
export const newTaskVersion = (id: number, retries: number): TaskVersion => ({
  id,
  epoch: 0,
  state: "none",
  tryNumber: 0,
  maxTries: retries,
  infraFailures: 0,
  branchDecision: null,
  mark: undefined,
  reason: undefined,
  retryAt: undefined,
  scheduledAt: undefined,
  queuedAt: undefined,
  sentAt: undefined,
  startDate: undefined,
  endDate: undefined,
  heartbeat: undefined,
  worker: undefined,
  token: undefined,
  resumes: false,
});

/** As a spread, which costs many times as much: most of what a simulation does is to copy these. */
export const copyTaskVersion = (v: TaskVersion): Draft<TaskVersion> => ({
  id: v.id,
  epoch: v.epoch,
  state: v.state,
  tryNumber: v.tryNumber,
  maxTries: v.maxTries,
  infraFailures: v.infraFailures,
  branchDecision: v.branchDecision,
  mark: v.mark,
  reason: v.reason,
  retryAt: v.retryAt,
  scheduledAt: v.scheduledAt,
  queuedAt: v.queuedAt,
  sentAt: v.sentAt,
  startDate: v.startDate,
  endDate: v.endDate,
  heartbeat: v.heartbeat,
  worker: v.worker,
  token: v.token,
  resumes: v.resumes,
});
