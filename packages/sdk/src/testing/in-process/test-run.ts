// The shapes of a test run, for its caller and for what shows it.
import type { Json } from "../../spec/index.ts";
import type { TaskError } from "../../runtime/index.ts";
import type { Interval, RunVerdict, TaskSnapshot, TaskState } from "@millrace/shared/model";
import type { MemoryStore } from "./memory-store.ts";

export type LogLevel = "debug" | "info" | "warn" | "error";

export interface InProcessOptions {
  /** Milliseconds since the epoch; null for a run without a logical date. */
  readonly logicalDate: number | null;
  /** Default: as for a manual run at the logical date. */
  readonly interval?: Interval;
  readonly runId?: string;
  readonly conf?: Readonly<Record<string, Json>>;
  /** Default: an empty one. */
  readonly store?: MemoryStore;
  readonly onLog?: (task: TestTask, level: LogLevel, message: string, fields?: Readonly<Record<string, Json>>) => void;
  /** Called after each change of state, with all tasks. */
  readonly onChange?: (changed: TestTask, all: readonly TestTask[]) => void;
  /** Tasks at once. Default 16. */
  readonly concurrency?: number;
  /** Waits before a retry; given its seconds. Default: does not wait. */
  readonly waitForRetry?: (seconds: number, signal: AbortSignal) => Promise<void>;
  readonly maxXComBytes?: number;
  /** Instances of one mapped task. Default 1,024. */
  readonly maxMapLength?: number;
  /** Longest retry delay in seconds. Default one day. */
  readonly maxRetryDelay?: number;
  /** Ends the run: running tasks get their signal, nothing more is started. */
  readonly signal?: AbortSignal;
}

export interface TestTask extends TaskSnapshot {
  readonly tryNumber: number;
  /** Milliseconds that its last try took. */
  readonly durationMs: number | undefined;
  readonly error: TaskError | undefined;
  /** Why it was skipped, or is as it is without having run. */
  readonly reason: string | undefined;
}

export interface InProcessResult {
  readonly runId: string;
  readonly state: "success" | "failed";
  readonly verdict: RunVerdict;
  readonly wasAborted: boolean;
  readonly tasks: readonly TestTask[];
  readonly durationMs: number;
}

export const newTask = (taskId: string): TestTask => ({
  taskId,
  mapIndex: -1,
  state: "none" satisfies TaskState,
  isDue: false,
  branchDecision: null,
  tryNumber: 0,
  durationMs: undefined,
  error: undefined,
  reason: undefined,
});
