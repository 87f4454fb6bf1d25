import type { TriggerEnd } from "../runtime/protocol.ts";

/** What a trigger returns to end its task without a worker. Made by {@link endTask}. */
export class TaskEnd {
  readonly end: Omit<TriggerEnd, "value"> & { readonly value?: unknown };

  /** Not for DAG files: use {@link endTask}. */
  constructor(end: TaskEnd["end"]) {
    this.end = end;
  }
}

/**
 * Ends the task from its trigger: no worker is asked for, and `resume` is not called. A task that decides a branch
 * cannot be ended so, because it is the worker that knows what its value means.
 */
export const endTask = {
  /** The task succeeds; `value` is what its handler would have returned. */
  success(value?: unknown): TaskEnd {
    return new TaskEnd({ kind: "end", state: "success", ...(value === undefined ? {} : { value }) });
  },
  /** The task fails, and is tried again when it has retries left. `retryable: false` rules that out. @default true */
  failed(message: string, options: { readonly retryable?: boolean } = {}): TaskEnd {
    return new TaskEnd({ kind: "end", state: "failed", message, retryable: options.retryable ?? true });
  },
  /** The task is skipped. */
  skipped(message: string): TaskEnd {
    return new TaskEnd({ kind: "end", state: "skipped", message });
  },
} as const;
