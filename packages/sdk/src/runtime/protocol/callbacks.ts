// The functions that a DAG or a task wants called when its state changes.
import type { RunRequest } from "./run-request.ts";
import type { TaskError } from "./task-error.ts";

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
