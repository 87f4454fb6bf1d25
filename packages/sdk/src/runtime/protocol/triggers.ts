// Waits that hold no worker: what is waited for, and what ended it.
import type { Json } from "../../spec/index.ts";
import type { RunRequest } from "./run-request.ts";
import type { TaskError } from "./task-error.ts";

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
